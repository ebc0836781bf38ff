package etcd

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// watchGetPlan is a plan of two pods that each replay a history of this many events.
func watchGetPlan(events int32) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Load.Pods = 2
		timed(&p.Load, 2, 200)
		p.Workload = spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{
			Streams: 2, WatchersPerStream: 10, Events: events, Keys: keySpace(10, spec.Sequential), Values: smallValues,
		}}
	}
}

// etcd's own metrics must show that events were sent during the reads: its event counter rises at least by the number
// of replayed events.
func TestReadsDuringReplays(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, watchGetPlan(8))
	before := sumOf(t, cluster, "etcd_debugging_mvcc_events_total")
	s := runAndCompare(t, cluster, client, p)
	sent := sumOf(t, cluster, "etcd_debugging_mvcc_events_total") - before
	w := s.merged.Watch
	want := results.Watch{Watchers: 20, Replays: w.Replays, Expected: 8 * w.Replays}
	if w != want || w.Replays < 20 || sent < float64(w.Expected) {
		t.Errorf("got %+v, wanted %+v; etcd has sent %v events", w, want, sent)
	}
	if n := s.operation(t, spec.OperationRange).Latency.Count(); n == 0 || n+unsent(s.snapshots) != 400 {
		t.Errorf("%d reads succeeded and %d are unsent, wanted 400", n, unsent(s.snapshots))
	}
	// Ten keys, and eight more puts of each pod on one of them.
	if got := s.merged.Requests[spec.RPCPut][results.PhasePreload]; got != 26 || len(s.loadPuts) != 26 {
		t.Errorf("%d puts were sent before the load, etcd has %d; wanted 26", got, len(s.loadPuts))
	}
}

// sumOf adds up one of etcd's counters, over its labels.
func sumOf(t *testing.T, cluster *etcdtest.Cluster, name string) (sum float64) {
	t.Helper()
	for _, m := range metricsOf(t, cluster)[name].GetMetric() {
		sum += m.GetCounter().GetValue()
	}
	return sum
}

// replayAudience records what one replay has read.
type replayAudience struct {
	replayed  chan [2]int
	compacted chan struct{}
}

func (a *replayAudience) Replayed(events, duplicate int) {
	select {
	case a.replayed <- [2]int{events, duplicate}:
	default:
	}
}

func (a *replayAudience) Cancelled() {}

func (a *replayAudience) Compacted() { a.compacted <- struct{}{} }

func TestAReplayReadsAllOfItsHistoryAndNoMore(t *testing.T) {
	cluster, client := oneMember(t)
	key := ownPrefix + "1"
	history := load.History{Key: []byte(key)}
	for i := range 12 {
		response, err := client.Put(t.Context(), key, "v")
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 2:
			history.First = response.Header.Revision
		case 11:
			history.Last = response.Header.Revision
		}
	}
	c := connect(t, connected(t, planFor(cluster.Endpoints)), 0)
	a := &replayAudience{make(chan [2]int, 1), make(chan struct{}, 1)}
	c.Replay(t.Context(), 3, history, a)
	for range 10 {
		if got := next(t, a.replayed, "a replay"); got != [2]int{10, 0} {
			t.Fatalf("a replay read %d events and %d more than once, wanted 10 and none", got[0], got[1])
		}
	}
}

// A compaction of the history ends its watchers for good; each reports it once.
func TestAReplayOfWhatIsCompactedEnds(t *testing.T) {
	cluster, client := oneMember(t)
	key := ownPrefix + "1"
	for range 3 {
		put(t, client, key, "v")
	}
	last, err := client.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	history := load.History{Key: []byte(key), First: last.Kvs[0].CreateRevision, Last: last.Kvs[0].ModRevision}
	if _, err := client.Compact(t.Context(), history.Last, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	c := connect(t, connected(t, planFor(cluster.Endpoints)), 0)
	a := &replayAudience{make(chan [2]int, 1), make(chan struct{}, 1)}
	c.Replay(t.Context(), 3, history, a)
	for range 3 {
		next(t, a.compacted, "a watcher to find its history compacted")
	}
}
