package etcd

import (
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// onlyLooking is a run of one second that looks at a target.
func onlyLooking(p *plan.Plan) {
	p.Workload = spec.Workload{Type: spec.WorkloadObserve}
	p.Load = spec.Load{Transport: spec.TransportClient, Pods: 1, Connections: 1, Clients: 1, RequestTimeoutSeconds: 10, Seed: 1}
	timed(&p.Load, 1, 20)
}

// A run that only looks accepts a prefix with the keys of others, an alarm and a member that is away, says what is wrong, and
// writes nothing.
func TestARunThatOnlyLooks(t *testing.T) {
	cluster, client := oneMember(t)
	if _, err := client.Put(t.Context(), ownPrefix+"of-another", "v"); err != nil {
		t.Fatal(err)
	}
	raise(t, cluster, client)
	before := handled(t, cluster)
	s := runAll(t, planFor(append(slices.Clone(cluster.Endpoints), "127.0.0.1:1"), onlyLooking))[0]
	if status := s.Operations[spec.OperationStatus]; s.Stage != results.StageDone || s.Cleaning != results.CleaningNothingWritten || status.CompletedInWindow == 0 || len(status.Errors) > 0 {
		t.Errorf("ended in %s, %s, with %d responses in the window and %v", s.Stage, s.Cleaning, status.CompletedInWindow, status.Errors)
	}
	if s.Target.Diagnosis == nil || len(s.Target.Members) != 1 || s.Target.Members[0].Window == nil || s.Target.Skipped["127.0.0.1:1"] == "" {
		t.Fatalf("found %+v", s.Target)
	}
	var kinds []string
	for _, f := range s.Target.Diagnosis.Findings {
		kinds = append(kinds, f.Kind)
	}
	if !slices.Contains(kinds, "Alarm") || !slices.Contains(kinds, "Unreachable") {
		t.Errorf("found %v, wanted the alarm and the member that is away", kinds)
	}
	for rpc, n := range handled(t, cluster) {
		if rose := n - before[rpc]; rose > 0 && !slices.Contains([]spec.RPC{spec.RPCStatus, spec.RPCMemberList, spec.RPCRange}, rpc) {
			t.Errorf("sent %d requests %s", rose, rpc)
		}
	}
	sent := uint64(0)
	for _, n := range s.Requests[spec.RPCStatus] {
		sent += n
	}
	if got := handled(t, cluster)[spec.RPCStatus] - before[spec.RPCStatus]; got != sent {
		t.Errorf("the member counts %d requests Status, the run %d", got, sent)
	}
	if found, err := client.Get(t.Context(), ownPrefix, clientv3.WithPrefix()); err != nil || len(found.Kvs) != 1 {
		t.Errorf("found %+v (%v), wanted the key of another", found, err)
	}
}

// A user who may not read the status gets a diagnosis, and no failed requests.
func TestARunThatOnlyLooksWithoutTheRightToReadStatus(t *testing.T) {
	cluster, _ := oneMember(t)
	s := runAll(t, planFor([]string{refusing(t, cluster.Endpoints[0], "Status")}, onlyLooking))[0]
	if status := s.Operations[spec.OperationStatus]; len(status.Errors) > 0 || s.Target.Diagnosis == nil || len(s.Target.Diagnosis.Looked) == 0 {
		t.Errorf("found %v and %+v", status.Errors, s.Target.Diagnosis)
	}
}

func TestARunThatOnlyLooksAtNothing(t *testing.T) {
	d := NewObserving(planFor([]string{"127.0.0.1:1", "127.0.0.1:2"}, onlyLooking))
	defer d.Close()
	_, _, err := d.Preflight(withTimeout(t))
	if f := load.FailureOf(err); f == nil || f.Reason != results.FailureTargetUnreachable {
		t.Errorf("found %v, wanted TargetUnreachable", err)
	}
}
