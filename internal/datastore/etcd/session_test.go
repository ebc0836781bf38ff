package etcd

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// startNow is load.Control for sessions that start when all of them are ready, and that stop when stop is closed.
type startNow struct {
	waiting sync.WaitGroup
	stop    chan struct{}
}

func (c *startNow) StartAt(ctx context.Context) (time.Time, error) {
	c.waiting.Done()
	c.waiting.Wait()
	return time.Now(), ctx.Err()
}

func (c *startNow) Admitted(context.Context) error { return nil }

func (c *startNow) Stopped() <-chan struct{} { return c.stop }

// runAll runs all parts of a plan at once and returns their final snapshots.
func runAll(t *testing.T, p plan.Plan) []*results.Snapshot {
	t.Helper()
	control := &startNow{stop: make(chan struct{})}
	control.waiting.Add(p.Pods())
	snapshots := make([]*results.Snapshot, p.Pods())
	var running sync.WaitGroup
	for i := range p.Pods() {
		session := newSession(t, p, i, control)
		running.Go(func() {
			if err := session.Run(withTimeout(t)); err != nil {
				t.Errorf("pod %d: %v", i, err)
				// The other pods wait for all to be ready.
				control.waiting.Done()
			}
			snapshots[i] = session.Snapshot()
		})
	}
	running.Wait()
	return snapshots
}

// runOne begins a run of one pod. It returns the session, and a function that stops it and waits for its end.
func runOne(t *testing.T, p plan.Plan) (session *load.Session, stop func() *results.Snapshot) {
	t.Helper()
	control := &startNow{stop: make(chan struct{})}
	control.waiting.Add(1)
	session = newSession(t, p, 0, control)
	ctx := withTimeout(t)
	ended := make(chan error, 1)
	go func() { ended <- session.Run(ctx) }()
	stop = sync.OnceValue(func() *results.Snapshot {
		close(control.stop)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return session.Snapshot()
	})
	t.Cleanup(func() { stop() })
	return session, stop
}

func driverOf(p plan.Plan, index int) load.Driver {
	switch {
	case p.Workload.Type == spec.WorkloadObserve:
		return NewObserving(p)
	case p.Target.Datastore == spec.Kine:
		return NewKine(p, index)
	}
	return New(p, index)
}

func newSession(t *testing.T, p plan.Plan, index int, control load.Control) *load.Session {
	t.Helper()
	session, err := load.NewSession(load.Config{Plan: p, Index: index, Driver: driverOf(p, index), Control: control})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// awaitSnapshot waits until a session's snapshot satisfies a condition.
func awaitSnapshot(t *testing.T, session *load.Session, is func(*results.Snapshot) bool) *results.Snapshot {
	t.Helper()
	ctx := withTimeout(t)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		s := session.Snapshot()
		if is(s) {
			return s
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("the session never became as wanted; it is in stage %s", s.Stage)
		}
	}
}

// handled returns how many requests of each kind etcd reports to have served. All members of a test share this process,
// and so their counters.
func handled(t *testing.T, cluster *etcdtest.Cluster) map[spec.RPC]uint64 {
	t.Helper()
	response, err := http.Get("http://" + cluster.Endpoints[0] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return parseHandled(t, response.Body)
}

func parseHandled(t *testing.T, body io.Reader) map[spec.RPC]uint64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[spec.RPC]uint64{}
	for _, m := range families["grpc_server_handled_total"].GetMetric() {
		for _, label := range m.GetLabel() {
			if label.GetName() == "grpc_method" {
				out[spec.RPC(label.GetValue())] += uint64(m.GetCounter().GetValue())
			}
		}
	}
	return out
}

// etcd's own counters rise by exactly the sum of the snapshots.
func theAccountIsExact(t *testing.T, cluster *etcdtest.Cluster) {
	tests := map[string]struct {
		change   func(*plan.Plan)
		measured uint64
	}{
		"puts": {func(*plan.Plan) {}, 2_000},
		"mixed with preload": {func(p *plan.Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{Consistency: spec.Linearizable, ReadPercent: 50, Keys: keySpace(1_500, spec.Sequential), Values: smallValues}}
		}, 2_000},
		"reads on followers": {func(p *plan.Plan) {
			p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
				Delivery: spec.DeliveryWhole, Consistency: spec.Serializable, KeysPerRequest: 1, Keys: keySpace(1, spec.Sequential), Values: smallValues,
			}}
			p.Target.Members = spec.MembersFollowers
		}, 2_000},
		"open loop on the leader": {func(p *plan.Plan) {
			timed(&p.Load, 1, 500)
			p.Target.Members = spec.MembersLeader
		}, 500},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods, p.Load.WarmupSeconds = 3, 1 }, tc.change)
			before := handled(t, cluster)
			snapshots := runAll(t, p)
			after := handled(t, cluster)
			accounted, measured := account(snapshots)
			for _, rpc := range []spec.RPC{spec.RPCPut, spec.RPCRange, spec.RPCDeleteRange, spec.RPCTxn, spec.RPCMemberList} {
				if served := after[rpc] - before[rpc]; accounted[rpc] != served {
					t.Errorf("%s: etcd served %d, the snapshots account for %d", rpc, served, accounted[rpc])
				}
			}
			if measured+unsent(snapshots) != tc.measured || successes(snapshots) != measured {
				t.Errorf("%d sent, %d successful and %d unsent in the window, wanted %d", measured, successes(snapshots), unsent(snapshots), tc.measured)
			}
			wantClean(t, cluster, snapshots)
		})
	}
}

// account adds up the requests sent, and the measured ones among them.
func account(snapshots []*results.Snapshot) (sent map[spec.RPC]uint64, measured uint64) {
	sent = map[spec.RPC]uint64{}
	for _, s := range snapshots {
		for rpc, phases := range s.Requests {
			for _, n := range phases {
				sent[rpc] += n
			}
			measured += phases[results.PhaseMeasured]
		}
	}
	return sent, measured
}

// unsent is how many arrivals an open loop could not send because no client was free.
func unsent(snapshots []*results.Snapshot) uint64 {
	var n uint64
	for _, s := range snapshots {
		for _, o := range s.Operations {
			n += o.Censored.Count()
		}
	}
	return n
}

func successes(snapshots []*results.Snapshot) uint64 {
	var n uint64
	for _, s := range snapshots {
		for _, o := range s.Operations {
			n += o.Latency.Count()
		}
	}
	return n
}

// wantClean checks that each pod has seen its keys deleted, and that none is left.
func wantClean(t *testing.T, cluster *etcdtest.Cluster, snapshots []*results.Snapshot) {
	t.Helper()
	for _, s := range snapshots {
		if s.Cleaning != results.CleaningKeysDeleted || s.Stage != results.StageDone {
			t.Errorf("pod %d ends in %s with %s", s.Index, s.Stage, s.Cleaning)
		}
	}
	if left := keysUnder(t, cluster.Client(t, "", ""), ownPrefix); len(left) > 0 {
		t.Errorf("%d keys are left", len(left))
	}
}

func TestARunWithClientCertificatesByName(t *testing.T) {
	t.Parallel()
	authority := etcdtest.NewAuthority(t, "etcd.example")
	cluster := etcdtest.Start(t, 1, authority)
	overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
		p := planFor(cluster.Endpoints, withTLS(authority.SecretDir(t), "etcd.example"), transport)
		if n := successes(runAll(t, p)); n != 2_000 {
			t.Errorf("%d of 2000 puts succeeded", n)
		}
	})
}

func TestARunWithUserAndPassword(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	enableAuth(t, cluster.Client(t, "", ""))
	overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
		p := planFor(cluster.Endpoints, withUser(t, "bench", "benchpass\n"), transport, func(p *plan.Plan) { p.Load.Pods = 3 })
		if n := successes(runAll(t, p)); n != 2_000 {
			t.Errorf("%d of 2000 puts succeeded", n)
		}
	})
	root := cluster.Client(t, "root", "secret")
	if left := keysUnder(t, root, ownPrefix); len(left) > 0 {
		t.Errorf("%d keys are left", len(left))
	}
}

func TestOnlyPodZeroReportsTheTarget(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, nil)
	snapshots := runAll(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods = 2 }))
	target := snapshots[0].Target
	if target == nil || len(target.Members) != 1 || target.Members[0].ResidentMemoryBytes < 1<<20 || !strings.HasPrefix(target.Members[0].Name, "member-") {
		t.Errorf("pod 0 reports %+v, wanted one member with its memory and name", target)
	}
	want := &results.Target{AnsweredBy: map[string][]string{cluster.Endpoints[0]: {target.Members[0].ID}}}
	if diff := cmp.Diff(want, snapshots[1].Target); diff != "" {
		t.Errorf("pod 1 reports more or less than the member that answered it (-want +got):\n%s", diff)
	}
}
