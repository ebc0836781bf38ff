//go:build e2e

package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

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
