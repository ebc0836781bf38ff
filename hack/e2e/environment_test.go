//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
)

// environment is the cluster with the operator and the targets.
type environment struct {
	// ctx ends when the suite is interrupted.
	ctx context.Context
	// root is the checkout.
	root       string
	kubeconfig string
	// ownCluster: the cluster is hack/cluster's, so its node is this machine.
	ownCluster bool
	// startedCluster: the suite started it and takes it down.
	startedCluster bool
	// installed: the suite has installed the release.
	installed bool
	image     string

	config *rest.Config
	client client.WithWatch
	set    kubernetes.Interface

	// counted is a target for scenarios that compare the server's counters; they run one after the other. side is for
	// scenarios that do not. secured requires client certificates, guarded a password.
	counted, side, secured, guarded *etcdCluster
	// authority signed the certificates of secured.
	authority *certificates.Authority

	// before is everything that the API server had before the operator was installed.
	before inventory
}

// detached is the environment for cleaning up: it also works after an interrupt.
func (e *environment) detached() *environment {
	detached := *e
	detached.ctx = context.WithoutCancel(e.ctx)
	return &detached
}

// setUp creates the environment and prints each step with its duration.
func (e *environment) setUp() error {
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"finding the checkout", e.findRoot},
		{"starting the cluster", e.startCluster},
		{"connecting", e.connect},
		{"building and loading the image", e.loadImage},
		{"removing what an earlier run left", e.removeLeftovers},
		{"taking the inventory", e.takeInventory},
		{"installing the operator", e.installOperator},
		{"starting the etcd clusters", e.startTargets},
	} {
		start := time.Now()
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("e2e: %-34s %6.1fs\n", step.name, time.Since(start).Seconds())
	}
	return nil
}

// tearDown removes everything that the suite created.
func (e *environment) tearDown() {
	if e.startedCluster {
		if _, err := e.command("go", "run", "./hack/cluster", "down"); err != nil {
			fmt.Fprintln(os.Stderr, "e2e: taking the cluster down:", err)
		}
		return
	}
	if e.client == nil {
		return
	}
	if err := e.removeLeftovers(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e: cleaning up:", err)
	}
}

func (e *environment) findRoot() error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	e.root = filepath.Dir(filepath.Dir(dir))
	if _, err := os.Stat(filepath.Join(e.root, "go.mod")); err != nil {
		return fmt.Errorf("%s should be hack/e2e of the checkout: %w", dir, err)
	}
	return nil
}

// startCluster starts the project's own cluster, unless it is up or E2E_CLUSTER selects another one.
func (e *environment) startCluster() error {
	switch kind := os.Getenv("E2E_CLUSTER"); kind {
	case "current":
		return e.useCurrentCluster()
	case "":
	default:
		return fmt.Errorf("E2E_CLUSTER: wanted nothing or \"current\", found %q", kind)
	}
	e.ownCluster = true
	e.kubeconfig = filepath.Join(e.root, "bin", "cluster", "kubeconfig")
	if _, err := e.command("go", "run", "./hack/cluster", "status"); err == nil {
		return nil
	}
	e.startedCluster = true
	_, err := e.command("go", "run", "./hack/cluster", "up")
	return err
}

func (e *environment) useCurrentCluster() error {
	e.kubeconfig, e.image = os.Getenv("KUBECONFIG"), os.Getenv("E2E_IMAGE")
	if e.kubeconfig == "" || e.image == "" {
		return errors.New("E2E_CLUSTER=current needs KUBECONFIG and, in E2E_IMAGE, an image that the cluster can pull")
	}
	current, err := e.kubectl("config", "current-context")
	fmt.Printf("e2e: using the cluster of context %s", current)
	return err
}

func (e *environment) connect() error {
	var err error
	if e.config, err = clientcmd.BuildConfigFromFlags("", e.kubeconfig); err != nil {
		return err
	}
	// Listing everything for the inventory produces warnings about deprecated resources; ignore them.
	e.config.WarningHandler = rest.NoWarnings{}
	// The suite polls from many goroutines at once. Client-side throttling would look like a slow operator.
	e.config.QPS, e.config.Burst = 200, 400
	if e.client, err = client.NewWithWatch(e.config, client.Options{Scheme: newScheme()}); err != nil {
		return err
	}
	e.set, err = kubernetes.NewForConfig(e.config)
	return err
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	// Both fail only if two types claim one name, which no input can cause.
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		panic(err)
	}
	return scheme
}

// loadImage builds the image from the checkout and loads it into the cluster.
func (e *environment) loadImage() error {
	if !e.ownCluster {
		return nil
	}
	e.image = "etcdbench.dev/etcd-benchmark-operator:e2e"
	if _, err := e.command("make", "image-binaries"); err != nil {
		return err
	}
	_, err := e.command("go", "run", "./hack/cluster", "build-image", "-f", "Dockerfile", "-t", e.image, ".")
	return err
}
