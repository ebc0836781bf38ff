//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkKine runs the load of API servers on kine. A second run, at another address, waits for its lock. The pods of a
// third run are killed, and the cleanup Job deletes its keys.
func checkKine(t *testing.T) {
	ns := namespace(t, "kine")
	address := startKine(t, ns)
	first := newOnKine(ns, "first", "kine."+ns+".svc:2379")
	second := newOnKine(ns, "second", address)
	second.Spec.Load.Requests, second.Spec.Load.DurationSeconds = new(int64(600)), nil
	first = awaitMeasuring(t, create(t, first))
	awaitQueued(t, create(t, second), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock})
	second = requireNext(t, first, second)
	if s := second.Status.Summary; s.MeasuredRequests != 600 || s.FailedRequests != 0 || s.Watch == nil || s.Watch.MissedEvents != 0 {
		t.Errorf("wanted 600 requests, none failed, and no event missed; found %+v", s)
	}
	requireNoKeysIn(t, address)

	killed := awaitMeasuring(t, create(t, newOnKine(ns, "killed", address)))
	for index := range int(killed.Spec.Load.Pods) {
		signalPod(index, syscall.SIGKILL)(t, victim{run: killed})
	}
	requireReason(t, awaitEnd(t, killed), v1alpha1.ReasonPodFailed)
	awaitKeysDeleted(t, killed)
	requireNoKeysIn(t, address)
}

// newOnKine is an endless run of two API servers.
func newOnKine(ns, name, address string) *v1alpha1.EtcdBenchmark {
	b := endless(newPutIn(ns, suite.side, name, 0))
	b.Spec.Target = v1alpha1.Target{Datastore: spec.Kine, Endpoints: []string{address}}
	b.Spec.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterSmall}}
	b.Spec.Load.Connections, b.Spec.Load.Clients = 2, 4
	return b
}

// startKine starts kine in a namespace, and returns the address of its pod when it is ready.
func startKine(t *testing.T, ns string) string {
	t.Helper()
	if _, err := suite.command("go", "run", "./hack/cluster", "build-image", "-f", filepath.Join("hack", "images", "kine", "Dockerfile"), "-t", "etcdbench.dev/kine:v0.17.5", filepath.Join("bin", "tools")); err != nil {
		t.Fatal(err)
	}
	mustKubectl(t, "apply", "-n", ns, "-f", filepath.Join(suite.root, "hack", "manifests", "kine.yaml"))
	mustKubectl(t, "rollout", "status", "-n", ns, "deployment/kine", "--timeout=2m")
	var pods corev1.PodList
	if err := suite.client.List(suite.ctx, &pods, client.InNamespace(ns), client.MatchingLabels{"app.kubernetes.io/name": "kine"}); err != nil || len(pods.Items) != 1 {
		t.Fatalf("wanted one pod of kine, found %d (%v)", len(pods.Items), err)
	}
	return net.JoinHostPort(pods.Items[0].Status.PodIP, "2379")
}

// requireNoKeysIn requires that no run has left a key in kine, not even the lock, which a run frees last.
func requireNoKeysIn(t *testing.T, address string) {
	t.Helper()
	store, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	eventually(t, 10*time.Second, "no key to be left", func(ctx context.Context) error {
		found, err := store.Get(ctx, "etcdbench/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err == nil && len(found.Kvs) > 0 {
			err = fmt.Errorf("%d are left, such as %s", len(found.Kvs), found.Kvs[0].Key)
		}
		return err
	})
}
