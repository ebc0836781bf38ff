package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
)

// managerUser is the user of the manager, whose requests are counted.
const managerUser = "etcdbench-manager"

// auditPolicy logs the manager's requests and no others, each once, when it has ended.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: [` + managerUser + `]
- level: None
`

// controlPlane is a kube-apiserver with its etcd, and a kube-controller-manager.
type controlPlane struct {
	env *envtest.Environment
	// api is this program's own client, without a limit on its rate.
	api         client.WithWatch
	controllers *process
	// audit is the log of the manager's requests, kubeconfig its configuration.
	audit, kubeconfig string
}

func startControlPlane(ctx context.Context, o options, dir string) (*controlPlane, error) {
	env, err := apiservertest.Environment(o.root, o.tools)
	if err != nil {
		return nil, err
	}
	p := &controlPlane{audit: filepath.Join(dir, "audit.log"), env: env}
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	p.env.ControlPlane.Etcd.Configure().Set("unsafe-no-fsync", "true")
	p.env.ControlPlane.GetAPIServer().Configure().
		Set("audit-log-path", p.audit).Set("audit-policy-file", policy).
		// This program sends thousands of requests; they must not make the manager's wait.
		Set("max-requests-inflight", "4000").Set("max-mutating-requests-inflight", "2000")
	config, err := startSparing(p.env)
	if err == nil {
		err = p.connect(ctx, config, o, dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a kube-apiserver (make tools-kube-apiserver tools-etcd tools-kube-controller-manager builds it): %w", err), p.stop())
	}
	return p, nil
}

// sparing lets the servers collect garbage rarely. They share few processors with all else here, and have enough memory.
var sparing = map[string]string{"GOGC": "800", "GOMEMLIMIT": "6GiB"}

// startSparing starts the servers with these variables.
func startSparing(env *envtest.Environment) (*rest.Config, error) {
	for name, value := range sparing {
		if old, isSet := os.LookupEnv(name); isSet {
			defer os.Setenv(name, old)
		} else {
			defer os.Unsetenv(name)
		}
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return env.Start()
}

// connect starts the controllers of Jobs and of garbage, and makes the users.
func (p *controlPlane) connect(ctx context.Context, config *rest.Config, o options, dir string) (err error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	own := rest.CopyConfig(config)
	own.QPS = -1
	if p.api, err = client.NewWithWatch(own, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if p.kubeconfig, err = p.user(dir, managerUser); err != nil {
		return err
	}
	controllers, err := p.user(dir, "kube-controller-manager")
	if err != nil {
		return err
	}
	p.controllers, err = startProcess(filepath.Join(dir, "controllers.log"), nil, filepath.Join(o.tools, "kube-controller-manager"),
		"--kubeconfig="+controllers, "--leader-elect=false", "--secure-port=0",
		"--controllers=job-controller,garbage-collector-controller,ttl-after-finished-controller",
		"--kube-api-qps=2000", "--kube-api-burst=4000", "--concurrent-job-syncs=10", "--concurrent-gc-syncs=20",
		"--flex-volume-plugin-dir="+filepath.Join(dir, "plugins"))
	return err
}

// user writes the kubeconfig of a new user with all rights.
func (p *controlPlane) user(dir, name string) (file string, err error) {
	user, err := p.env.AddUser(envtest.User{Name: name, Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return "", err
	}
	text, err := user.KubeConfig()
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, name+".kubeconfig")
	return file, os.WriteFile(file, text, 0o600)
}

// collectGarbage makes the API server collect its garbage: no scene pays for what others have left.
func (p *controlPlane) collectGarbage(ctx context.Context) error {
	api, err := discovery.NewDiscoveryClientForConfig(p.env.Config)
	if err != nil {
		return err
	}
	_, err = api.RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx)
	return err
}

func (p *controlPlane) stop() error {
	p.controllers.end()
	return p.env.Stop()
}
