package etcd

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

func watchPlan(watch spec.Watch, keys int64) func(*plan.Plan) {
	watch.Keys, watch.Values = keySpace(keys, spec.Uniform), smallValues
	return func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadWatch, Watch: &watch}
		p.Load.Requests = new(int64(400))
	}
}

// For each acknowledged put, each watcher of its pod that watches the key must get exactly one event.
func TestEveryAcknowledgedPutIsSeen(t *testing.T) {
	cluster, client := oneMember(t)
	tests := map[string]struct {
		watch spec.Watch
		keys  int64
		pods  int32
		// wantEach is how many events each put has.
		wantEach uint64
	}{
		"one key":                  {spec.Watch{Scope: spec.WatchScopeKey, Streams: 4, WatchersPerStream: 3}, 1, 1, 12},
		"each a key":               {spec.Watch{Scope: spec.WatchScopeKey, Streams: 1, WatchersPerStream: 10}, 10, 1, 1},
		"all keys":                 {spec.Watch{Streams: 2, WatchersPerStream: 3, Scope: spec.WatchScopeAllKeys}, 10, 1, 6},
		"with previous values":     {spec.Watch{Scope: spec.WatchScopeKey, Streams: 2, WatchersPerStream: 2, PrevKV: true}, 2, 1, 2},
		"two pods, one key":        {spec.Watch{Scope: spec.WatchScopeKey, Streams: 5, WatchersPerStream: 2}, 1, 2, 0},
		"two pods, the same":       {spec.Watch{Streams: 4, WatchersPerStream: 2, Scope: spec.WatchScopeAllKeys}, 7, 2, 4},
		"two carriers":             {spec.Watch{Scope: spec.WatchScopeKey, Streams: 4, WatchersPerStream: 3, Connections: 2}, 1, 1, 12},
		"two pods, three carriers": {spec.Watch{Streams: 4, WatchersPerStream: 2, Scope: spec.WatchScopeAllKeys, Connections: 3}, 7, 2, 4},
		"more keys than anyone":    {spec.Watch{Scope: spec.WatchScopeKey, Streams: 1, WatchersPerStream: 1}, 1000, 1, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, watchPlan(tc.watch, tc.keys), func(p *plan.Plan) {
				p.Load.Pods, p.Load.WarmupSeconds, p.Load.Rate = tc.pods, 1, &spec.Rate{PerSecond: 400, Arrival: spec.ArrivalConstant}
			})
			s := runAndCompare(t, cluster, client, p)
			w := s.merged.Watch
			want := results.Watch{Watchers: uint64(tc.watch.Streams * tc.watch.WatchersPerStream), Expected: w.Expected}
			if tc.wantEach > 0 {
				want.Expected = 400 * tc.wantEach
			}
			if w != want {
				t.Errorf("got %+v, wanted %+v", w, want)
			}
			put, event, delivery := s.operation(t, spec.OperationPut), s.operation(t, spec.OperationWatchEvent), s.operation(t, spec.OperationWatchDelivery)
			if put.Latency.Count() != 400 || event.Latency.Count() != w.Expected || delivery.Latency.Count() != w.Expected {
				t.Errorf("%d puts, %d events, %d deliveries; wanted 400 and twice %d", put.Latency.Count(), event.Latency.Count(), delivery.Latency.Count(), w.Expected)
			}
			if delivery.Latency.Sum() > event.Latency.Sum() {
				t.Error("events came later after the answer than after the put was due")
			}
		})
	}
}

// A watcher of one key among many gets the events of that key only.
func TestAWatcherSeesItsKeyAlone(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, watchPlan(spec.Watch{Scope: spec.WatchScopeKey, Streams: 1, WatchersPerStream: 1}, 4))
	s := runAndCompare(t, cluster, client, p)
	onFirst := uint64(0)
	for _, keys := range s.loadPuts {
		if slices.Contains(keys, "00000000") {
			onFirst++
		}
	}
	// One of them was written before the load.
	if got := s.merged.Watch.Expected; got != onFirst-1 || got == 0 {
		t.Errorf("%d events were expected, etcd has %d puts of the first key in the load", got, onFirst-1)
	}
}

// audience records what a test's watchers report.
type audience struct {
	events                        chan string
	duplicate, cancelled, resumed chan struct{}
}

func newAudience() *audience {
	many := func() chan struct{} { return make(chan struct{}, 1000) }
	return &audience{make(chan string, 1000), many(), many(), many()}
}

func (a *audience) Event(_ int, _ load.Instant, value []byte) { a.events <- string(value) }
func (a *audience) Duplicate()                                { a.duplicate <- struct{}{} }
func (a *audience) Cancelled()                                { a.cancelled <- struct{}{} }
func (a *audience) Resumed()                                  { a.resumed <- struct{}{} }

// next waits for a value of a channel.
func next[T any](t *testing.T, from <-chan T, what string) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(30 * time.Second):
		t.Fatalf("timed out waiting for %s", what)
	}
	return got
}

// watchOver opens a watcher of all keys over a link to an etcd.
func watchOver(t *testing.T) (*link, *clientv3.Client, *audience) {
	t.Helper()
	cluster, client := oneMember(t)
	l := newLink(t, cluster.Endpoints[0])
	c := connect(t, connected(t, planFor([]string{l.address()})), 0)
	a := newAudience()
	w := workload.Watcher{Key: []byte(ownPrefix), End: []byte(clientv3.GetPrefixRangeEnd(ownPrefix))}
	if err := c.Watch(t.Context(), []load.Watcher{{Watcher: w}}, a); err != nil {
		t.Fatal(err)
	}
	return l, client, a
}

func TestABrokenStreamIsResumedWithoutLoss(t *testing.T) {
	l, client, a := watchOver(t)
	put(t, client, ownPrefix+"1", "before")
	if got := next(t, a.events, "the first event"); got != "before" {
		t.Fatalf("got the event %q", got)
	}
	l.cut()
	for i := range 3 {
		put(t, client, ownPrefix+"1", strconv.Itoa(i))
	}
	next(t, l.refused, "clientv3 to connect again")
	l.mend()
	for i := range 3 {
		if got := next(t, a.events, "what was put meanwhile"); got != strconv.Itoa(i) {
			t.Errorf("got the event %q, wanted %d", got, i)
		}
	}
	next(t, a.resumed, "the watcher to count as resumed")
	if len(a.duplicate)+len(a.cancelled) > 0 {
		t.Errorf("%d events were duplicates, %d watchers were cancelled", len(a.duplicate), len(a.cancelled))
	}
}

// For a watcher that could not be opened, because its stream was down, no request was sent. So it must not be counted
// as one of those that are resumed later.
func TestAWatcherThatWasNotOpenedIsNotCountedAsResumed(t *testing.T) {
	t.Parallel()
	cluster, _ := oneMember(t)
	l := newLink(t, cluster.Endpoints[0])
	a := newAudience()
	s := &watchStream{conn: connect(t, connected(t, planFor([]string{l.address()})), 0), audience: a}
	what := load.Watcher{Watcher: workload.Watcher{Key: []byte(ownPrefix + "1")}}
	if err := s.add(t.Context(), what); err != nil {
		t.Fatal(err)
	}
	l.cut()
	next(t, l.refused, "clientv3 to connect again")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.add(ctx, what); err == nil {
		t.Fatal("a watcher was opened over a link that is cut")
	}
	l.mend()
	next(t, a.resumed, "the watcher to count as resumed")
}

// Before its first event, clientv3 resumes a watcher at the revision at which it was created. Puts at that revision are
// older than the watcher.
func TestAWatcherSeesNothingOlderThanItself(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	put(t, client, ownPrefix+"1", "old")
	l := newLink(t, cluster.Endpoints[0])
	c := connect(t, connected(t, planFor([]string{l.address()})), 0)
	a := newAudience()
	if err := c.Watch(t.Context(), []load.Watcher{{Watcher: workload.Watcher{Key: []byte(ownPrefix + "1")}}}, a); err != nil {
		t.Fatal(err)
	}
	l.cut()
	next(t, l.refused, "clientv3 to connect again")
	l.mend()
	next(t, a.resumed, "the watcher to be resumed")
	put(t, client, ownPrefix+"1", "new")
	if got := next(t, a.events, "an event"); got != "new" || len(a.duplicate) > 0 {
		t.Errorf("got the event %q and %d duplicates", got, len(a.duplicate))
	}
}

// A watcher misses events only because of a compaction.
func TestACancelledWatcherGoesOnAfterItsLastEvent(t *testing.T) {
	for name, tc := range map[string]struct {
		compacted bool
		want      int64
	}{
		"by a compaction":      {true, 0},
		"for want of a leader": {false, 8},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAudience()
			w := &streamWatcher{stream: &watchStream{conn: &conn{}, audience: a}, first: 3, last: 7}
			w.end(tc.compacted)
			if w.from != tc.want || len(a.cancelled) != 1 || len(a.resumed) != 0 {
				t.Errorf("opened again at revision %d, cancelled %d times, resumed %d times; wanted %d, once, never",
					w.from, len(a.cancelled), len(a.resumed), tc.want)
			}
		})
	}
}

// If a compaction happens before a watcher is resumed, etcd cancels the watcher, and the events in between are lost.
func TestACompactionCancelsAWatcherThatIsBehind(t *testing.T) {
	t.Parallel()
	l, client, a := watchOver(t)
	l.cut()
	put(t, client, ownPrefix+"1", "lost")
	put(t, client, ownPrefix+"1", "lost, too")
	last, err := client.Get(t.Context(), ownPrefix+"1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), last.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	next(t, l.refused, "clientv3 to connect again")
	l.mend()
	next(t, a.cancelled, "the watcher to be cancelled")
	// The watcher is open again some time after that. Its first event is one of these puts.
	maxWait, ticker := withTimeout(t), time.NewTicker(10*time.Millisecond)
	defer ticker.Stop()
	for {
		put(t, client, ownPrefix+"1", "found")
		select {
		case got := <-a.events:
			if got != "found" {
				t.Errorf("got the event %q", got)
			}
			return
		case <-maxWait.Done():
			t.Fatal("the watcher was not opened again")
		case <-ticker.C:
		}
	}
}

func TestAWatcherThatMayNotReadIsExplained(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	enableAuth(t, client)
	c := connect(t, connected(t, planFor(cluster.Endpoints, withUser(t, "bench", "benchpass"))), 0)
	err := c.Watch(t.Context(), []load.Watcher{{Watcher: workload.Watcher{Key: []byte("elsewhere/1")}}}, newAudience())
	wantFailure(t, err, results.FailureAuthenticationFailed)
}

// A run with broken connections has fewer puts, and all their events.
func TestARunOverABrokenLinkMissesNothing(t *testing.T) {
	cluster, client := oneMember(t)
	l := newLink(t, cluster.Endpoints[0])
	p := planFor([]string{l.address()}, watchPlan(spec.Watch{Scope: spec.WatchScopeKey, Streams: 2, WatchersPerStream: 3}, 1), func(p *plan.Plan) {
		timed(&p.Load, 60, 200)
	})
	ctx, cancel := context.WithCancel(t.Context())
	seen := client.Watch(ctx, ownPrefix+"00000000")
	go func() {
		defer cancel()
		for n := 0; n < 150; {
			n += len((<-seen).Events)
		}
		l.cut()
		<-l.refused
		l.mend()
	}()
	session, stop := runOne(t, p)
	awaitSnapshot(t, session, func(s *results.Snapshot) bool {
		put := s.Operations[spec.OperationPut]
		return s.Watch.Watchers > 0 && s.Watch.Resumed >= s.Watch.Watchers && put != nil && put.Latency.Count() >= 200
	})
	s := stop()
	w, put, event := s.Watch, s.Operations[spec.OperationPut], s.Operations[spec.OperationWatchEvent]
	if w.Missed+w.Duplicate+w.Cancelled > 0 || w.Resumed < w.Watchers {
		t.Errorf("got %+v, wanted all watchers to be resumed and nothing else", w)
	}
	if w.Expected != 6*put.Latency.Count() || event.Latency.Count() != w.Expected {
		t.Errorf("%d puts were acknowledged, %d events expected, %d seen", put.Latency.Count(), w.Expected, event.Latency.Count())
	}
}

// With each event comes the previous value: etcd sends twice as much.
func TestPreviousValuesAreSent(t *testing.T) {
	cluster, _ := oneMember(t)
	sent := func(prevKV bool) float64 {
		p := planFor(cluster.Endpoints, watchPlan(spec.Watch{Scope: spec.WatchScopeKey, Streams: 1, WatchersPerStream: 5, PrevKV: prevKV}, 1), func(p *plan.Plan) {
			p.Workload.Watch.Values.SizeBytes = 1000
		})
		before := sumOf(t, cluster, "etcd_network_client_grpc_sent_bytes_total")
		runAll(t, p)
		return sumOf(t, cluster, "etcd_network_client_grpc_sent_bytes_total") - before
	}
	without, with := sent(false), sent(true)
	// 400 puts of 1,000 bytes, each to five watchers.
	if without < 2e6 || with-without < 1.9e6 {
		t.Errorf("etcd has sent %.0f bytes, and %.0f with previous values", without, with)
	}
}

// Without a leader, a watcher with the settings of an API server is cancelled, and another one is not.
func TestAWatcherOfObjectsWantsALeader(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	c := connect(t, connected(t, planFor(cluster.Endpoints[:1])), 0)
	objects, keys := newAudience(), newAudience()
	objectRange := workload.Watcher{Key: []byte(ownPrefix + "registry/"), End: []byte(ownPrefix + "registry0")}
	if err := c.Watch(t.Context(), []load.Watcher{{Watcher: objectRange}}, keys); err != nil {
		t.Fatal(err)
	}
	objectRange.Reflect = true
	if err := c.Watch(t.Context(), []load.Watcher{{Watcher: objectRange}}, objects); err != nil {
		t.Fatal(err)
	}
	cluster.Stop(1)
	cluster.Stop(2)
	next(t, objects.cancelled, "the watcher of objects to be cancelled")
	if len(keys.cancelled) > 0 {
		t.Error("the other watcher was cancelled, too")
	}
}

// An API server knows the objects from before its watch, and the changes of others.
func TestAWatcherOfObjectsRecordsTheirRevisions(t *testing.T) {
	cluster, client := oneMember(t)
	key := ownPrefix + "registry/pods/a"
	put(t, client, key, "there before")
	c := connect(t, connected(t, planFor(cluster.Endpoints)), 0)
	a := newAudience()
	w := workload.Watcher{Key: []byte(ownPrefix + "registry/"), End: []byte(ownPrefix + "registry0"), Reflect: true}
	if err := c.Watch(t.Context(), []load.Watcher{{Watcher: w}}, a); err != nil {
		t.Fatal(err)
	}
	if do(t, c, object(spec.OperationOptimisticPut, "a", false)).Lost {
		t.Error("a change of an object from before the watch was lost")
	}
	put(t, client, key, "a foreign value")
	for next(t, a.events, "the event of the foreign put") != "a foreign value" {
		continue
	}
	if do(t, c, object(spec.OperationOptimisticPut, "a", false)).Lost {
		t.Error("a change of an object that the watch has reported was lost")
	}
	if got := c.driver.Requests()[spec.RPCRange]; got[results.PhaseMeasured] > 0 {
		t.Errorf("the revision was read before a change, though it was known: %v", got)
	}
}
