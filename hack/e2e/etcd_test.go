//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// etcdCluster is a target in its own namespace: the demo's manifest, with the changes that the scenario needs.
type etcdCluster struct {
	namespace string
	members   int
	// secret, if set, has the members' certificates: they then serve TLS and require client certificates.
	secret string
	// extra flags of the members.
	extra []string
	// small members request no resources of the node, so that many fit on it.
	small bool
	// ordered members start one after the other. They are ready when they accept connections: the first has no majority.
	ordered bool
	// flags of etcdctl, if the cluster requires credentials.
	flags []string
	// counting is locked while the members' counters are compared with a run's. Requests of etcdctl from parallel tests
	// would be counted too.
	counting sync.Mutex
}

const (
	etcdName    = "etcd"
	serverCerts = "/certs"
)

// startTargets creates all targets at once and waits until they are ready.
func (e *environment) startTargets() error {
	// An election would be counted too, and a slow disk of the node can cause one.
	slowElections := []string{"--heartbeat-interval=500", "--election-timeout=5000"}
	e.counted = &etcdCluster{namespace: "e2e-counted", members: 3, extra: slowElections}
	e.side = &etcdCluster{namespace: "e2e-side", members: 1}
	e.secured = &etcdCluster{namespace: "e2e-secured", members: 3}
	e.guarded = &etcdCluster{namespace: "e2e-guarded", members: 1}
	clusters := []*etcdCluster{e.counted, e.side, e.secured, e.guarded}
	for _, c := range clusters {
		if err := e.createNamespace(c.namespace, map[string]string{labelSuite: "target"}); err != nil {
			return err
		}
	}
	if err := e.prepareSecured(); err != nil {
		return err
	}
	for _, c := range clusters {
		if err := e.startEtcd(c); err != nil {
			return err
		}
	}
	for _, c := range clusters {
		if err := waitFor(e.ctx, 2*time.Minute, "etcd in "+c.namespace+" to be ready", c.ready); err != nil {
			return err
		}
	}
	return e.guardWithPassword(e.guarded, "etcdbench/")
}

func (e *environment) startEtcd(c *etcdCluster) error {
	text, err := os.ReadFile(filepath.Join(e.root, "hack", "manifests", "etcd.yaml"))
	if err != nil {
		return err
	}
	var service corev1.Service
	var set appsv1.StatefulSet
	first, second, found := strings.Cut(string(text), "\n---\n")
	if !found {
		return fmt.Errorf("hack/manifests/etcd.yaml: wanted a Service and a StatefulSet, found one document")
	}
	if err := yaml.UnmarshalStrict([]byte(first), &service); err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict([]byte(second), &set); err != nil {
		return err
	}
	c.adapt(&set)
	for _, object := range []client.Object{&service, &set} {
		object.SetNamespace(c.namespace)
		if err := e.client.Create(e.ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// adapt changes the demo's manifest to this cluster's members and security.
func (c *etcdCluster) adapt(set *appsv1.StatefulSet) {
	replicas := int32(c.members)
	set.Spec.Replicas = &replicas
	container := &set.Spec.Template.Spec.Containers[0]
	if c.small {
		container.Resources.Requests = nil
	}
	if c.ordered {
		set.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
		container.ReadinessProbe.ProbeHandler = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(2379)}}
	}
	container.Args = append(container.Args, c.extra...)
	args := container.Args
	for i, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "--initial-cluster":
			args[i] = name + "=" + strings.Join(strings.Split(value, ",")[:c.members], ",")
		case "--listen-client-urls", "--advertise-client-urls":
			if c.secret != "" {
				args[i] = strings.ReplaceAll(arg, "http://", "https://")
			}
		}
	}
	if c.secret != "" {
		c.serveTLS(&set.Spec.Template.Spec)
	}
}

func (c *etcdCluster) serveTLS(pod *corev1.PodSpec) {
	container := &pod.Containers[0]
	container.Args = append(container.Args,
		"--client-cert-auth", "--trusted-ca-file="+serverCerts+"/ca.crt",
		"--cert-file="+serverCerts+"/tls.crt", "--key-file="+serverCerts+"/tls.key")
	container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "certs", MountPath: serverCerts, ReadOnly: true})
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "certs", VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: c.secret},
	}})
}

func (c *etcdCluster) ready(ctx context.Context) error {
	var set appsv1.StatefulSet
	if err := suite.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: etcdName}, &set); err != nil {
		return err
	}
	if int(set.Status.ReadyReplicas) != c.members {
		return fmt.Errorf("%d of %d members are ready", set.Status.ReadyReplicas, c.members)
	}
	return nil
}

func (c *etcdCluster) podName(member int) string { return fmt.Sprintf("%s-%d", etcdName, member) }

// endpoint is the address of a member that is valid in every namespace.
func (c *etcdCluster) endpoint(member int) string {
	return fmt.Sprintf("%s.%s.%s.svc:2379", c.podName(member), etcdName, c.namespace)
}

func (c *etcdCluster) endpoints() []string {
	var all []string
	for i := range c.members {
		all = append(all, c.endpoint(i))
	}
	return all
}

// etcdctl runs etcdctl in the first member's pod.
func (c *etcdCluster) etcdctl(args ...string) (string, error) {
	c.counting.Lock()
	defer c.counting.Unlock()
	command := append([]string{"exec", "-n", c.namespace, c.podName(0), "--", "/usr/local/bin/etcdctl"}, c.flags...)
	return suite.kubectl(append(command, args...)...)
}

// entry is one key in the store.
type entry struct {
	Value       []byte `json:"value"`
	ModRevision int64  `json:"mod_revision"`
	Version     int64  `json:"version"`
}

// store returns every key under a prefix; the empty prefix is the whole store.
func (c *etcdCluster) store(prefix string) (map[string]entry, error) {
	out, err := c.etcdctl("get", prefix, "--prefix", "--write-out=json")
	if err != nil {
		return nil, err
	}
	var response struct {
		KVs []struct {
			Key []byte `json:"key"`
			entry
		} `json:"kvs"`
	}
	if err := json.Unmarshal([]byte(out), &response); err != nil {
		return nil, fmt.Errorf("reading etcdctl's JSON: %w", err)
	}
	found := map[string]entry{}
	for _, kv := range response.KVs {
		found[string(kv.Key)] = kv.entry
	}
	return found, nil
}

// leader returns the pod name of the leader.
func (c *etcdCluster) leader() (string, error) {
	for i := range c.members {
		out, err := c.etcdctl("endpoint", "status", "--endpoints="+c.scheme()+c.endpoint(i), "--write-out=json")
		if err != nil {
			return "", err
		}
		var statuses []struct {
			Status struct {
				Header struct {
					MemberID uint64 `json:"member_id"`
				} `json:"header"`
				Leader uint64 `json:"leader"`
			}
		}
		if err := json.Unmarshal([]byte(out), &statuses); err != nil {
			return "", fmt.Errorf("reading etcdctl's JSON: %w", err)
		}
		if s := statuses[0].Status; s.Leader == s.Header.MemberID {
			return c.podName(i), nil
		}
	}
	return "", fmt.Errorf("wanted a leader in %s, found none", c.namespace)
}

func (c *etcdCluster) scheme() string {
	if c.secret != "" {
		return "https://"
	}
	return "http://"
}

// checkStarting creates a run before its etcd, whose members start one after the other, each when the one before is
// ready. The run loads all of them.
func checkStarting(t *testing.T) {
	c := &etcdCluster{namespace: namespace(t, "starting"), members: 3, small: true, ordered: true}
	b := newPut(c, "starting", 300)
	b.Spec.Target = v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: etcdName, Port: intstr.FromString("client")}}
	b = create(t, b)
	if err := suite.startEtcd(c); err != nil {
		t.Fatal(err)
	}
	b = awaitEnd(t, b)
	requireCompleted(t, b)
	if target := b.Status.Target; len(target.Endpoints) != c.members || target.NotReady != 0 {
		t.Errorf("the run loaded %v, and %d members were not ready, wanted all %d", target.Endpoints, target.NotReady, c.members)
	}
}
