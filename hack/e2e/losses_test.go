//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkLosses removes, in the middle of a run, something that the run needs.
func checkLosses(t *testing.T) {
	ns := namespace(t, "losses")
	t.Run("the leader", checkMovedLeader)
	t.Run("the operator, for longer than pods wait", func(t *testing.T) { checkLongAbsence(t, ns) })
}

// checkMovedLeader moves the leader while only the leader is under load. The load follows, and every request is
// accounted for.
func checkMovedLeader(t *testing.T) {
	c := suite.counted
	b := newPut(c, "moved-leader", 3000)
	b.Spec.Target.Members = spec.MembersLeader
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 200}
	b = awaitMeasuring(t, create(t, b))
	old, err := c.leader()
	if err != nil {
		t.Fatal(err)
	}
	moveLeader(t, c, old)
	between := mustCounters(t, c)
	b = awaitEnd(t, b)
	requireCompleted(t, b)
	if got := b.Status.Summary.MeasuredRequests; got != 3000 {
		t.Errorf("wanted 3000 requests in the summary, found %d", got)
	}
	rise := mustCounters(t, c).since(between)
	if rise[old]["Put"] > rise.total("Put")/2 {
		t.Errorf("the load stayed with the old leader %s: %v", old, rise)
	}
}

// moveLeader transfers the leadership to another member.
func moveLeader(t *testing.T, c *etcdCluster, old string) {
	t.Helper()
	out, err := c.etcdctl("member", "list", "--write-out=simple")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		fields := strings.Split(line, ", ")
		if len(fields) < 3 || fields[2] == old {
			continue
		}
		var ordinal int
		if _, err := fmt.Sscanf(old, etcdName+"-%d", &ordinal); err != nil {
			t.Fatal(err)
		}
		if _, err := c.etcdctl("move-leader", fields[0], "--endpoints="+c.scheme()+c.endpoint(ordinal)); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("wanted another member than %s, found: %s", old, out)
}

// checkLongAbsence stops the operator until the pods no longer wait for it. Then only their termination messages
// remain.
func checkLongAbsence(t *testing.T, ns string) {
	before := putForeign(t, suite.side)
	b := awaitMeasuring(t, create(t, newLong(ns, "absence")))
	mustKubectl(t, "scale", "-n", operatorNamespace, "deployment/"+release, "--replicas=0")
	t.Cleanup(func() {
		if _, err := suite.detached().kubectl("scale", "-n", operatorNamespace, "deployment/"+release, "--replicas=1"); err != nil {
			t.Error(err)
		}
	})
	mustKubectl(t, "wait", "-n", ns, "job/"+b.Status.Job.Name, "--for=condition=Complete", "--timeout=5m")
	mustKubectl(t, "scale", "-n", operatorNamespace, "deployment/"+release, "--replicas=1")
	b = awaitEnd(t, b)
	requireSources(t, b, v1alpha1.SourceTerminationMessage)
	requireWhole(t, victim{run: b, target: suite.side, before: before})
	reliability.add(t, "operator away for longer than pods wait for it to read their results", v1alpha1.StageRunning, b, false)
}

func newLong(ns, name string) *v1alpha1.EtcdBenchmark {
	b := newPutIn(ns, suite.side, name, 2000)
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 100}
	return b
}
