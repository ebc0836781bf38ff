package collector

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

const uid = types.UID("run")

var key = types.NamespacedName{Namespace: "ns", Name: "run"}

// all sends every connection to one server, for all pod addresses.
func all(server *httptest.Server) http.RoundTripper {
	return &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, server.Listener.Addr().String())
	}}
}

func serve(t *testing.T, h http.Handler) *Collector {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c := New(all(server))
	c.scraper.client.Timeout = 20 * time.Second
	return c
}

func metrics(s *results.Snapshot) http.Handler {
	return promhttp.HandlerFor(wire.Gatherer(func() *results.Snapshot { return s }), promhttp.HandlerOpts{})
}

func snapshot(index int, stage results.Stage) *results.Snapshot {
	return &results.Snapshot{RunUID: string(uid), Index: index, Transport: "ClientV3", Stage: stage, Cleaning: results.CleaningNothingWritten}
}

// TestScrapesAndWakes: a pod's snapshot arrives with an event for its run.
func TestScrapesAndWakes(t *testing.T) {
	c := serve(t, metrics(snapshot(3, results.StageReady)))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	c.Watch(uid, key, []Pod{{Name: "p", Index: 3, IP: "198.18.0.1"}}, Phase{})
	select {
	case e := <-c.Events():
		if e.Object.GetName() != "run" || e.Object.GetNamespace() != "ns" {
			t.Errorf("wanted an event for ns/run, found %+v", e.Object)
		}
	case <-ctx.Done():
		t.Fatal("wanted an event, found none")
	}
	if got := c.Results(uid)["p"].Live; got == nil || got.Stage != results.StageReady {
		t.Errorf("wanted the pod's snapshot, found %+v", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestForeignAnswersAreRefused: only this pod's own snapshot is accepted.
func TestForeignAnswersAreRefused(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	tests := map[string]struct {
		handler http.Handler
		want    bool
	}{
		"its own":            {metrics(snapshot(3, results.StageReady)), true},
		"another index":      {metrics(snapshot(4, results.StageReady)), false},
		"another run":        {metrics(&results.Snapshot{RunUID: "other", Index: 3, Stage: results.StageReady, Cleaning: results.CleaningNothingWritten}), false},
		"an error":           {http.NotFoundHandler(), false},
		"a redirect":         {http.RedirectHandler(other.URL, http.StatusFound), false},
		"a body without end": {http.HandlerFunc(endless), false},
		"no metrics": {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		}), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := serve(t, tc.handler)
			got, _ := c.scraper.scrapeAll(t.Context(), round{run: uid, now: time.Now}, []target{{Pod: Pod{Name: "p", Index: 3, IP: "198.18.0.1"}}})
			if (got["p"].snapshot != nil) != tc.want {
				t.Errorf("wanted a snapshot: %v, found %v", tc.want, got)
			}
		})
	}
	if elsewhere.Load() > 0 {
		t.Error("wanted no redirect to be followed")
	}
}

// A pod's compression would take processor time from its load, and an answer could be small on the wire and very large after
// decompression.
func TestAnswersAreNotCompressed(t *testing.T) {
	served := metrics(snapshot(3, results.StageReady))
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.ServeHTTP(w, r)
		if found := w.Header().Get("Content-Encoding"); found != "" {
			t.Errorf("wanted a plain answer, found %s", found)
		}
	}))
	answers, _ := c.scraper.scrapeAll(t.Context(), round{run: uid, now: time.Now}, []target{{Pod: Pod{Name: "p", Index: 3, IP: "198.18.0.1"}}})
	if answers["p"].snapshot == nil {
		t.Error("wanted a snapshot, found none")
	}
}

// TestTheCourseIsReadOnce: a pod that has measured is asked for its course until it answers, and not again.
func TestTheCourseIsReadOnce(t *testing.T) {
	const length = 3
	course := func(run string) []byte {
		s := &results.Snapshot{RunUID: run, Index: 3}
		s.Timeline.Record(length*results.TimelineInterval-1, time.Millisecond, true)
		data, err := wire.MarshalCourse(s)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var asked int
	bodies := [][]byte{[]byte("broken"), course("another run"), course(string(uid))}
	pod := http.NewServeMux()
	pod.Handle(plan.MetricsPath, metrics(snapshot(3, results.StageCleaning)))
	pod.HandleFunc(plan.CoursePath, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bodies[asked])
		asked++
	})
	c := serve(t, pod)
	r := newRun(uid, key)
	r.watch([]Pod{{Name: "p", Index: 3, IP: "198.18.0.1"}}, time.Now())
	for scrape := range 5 {
		answers, _ := c.scraper.scrapeAll(t.Context(), round{run: uid, now: time.Now}, r.toScrape(time.Time{}, 1))
		r.take(answers, time.Now())
		live := r.pods["p"].live
		if live == nil {
			t.Fatalf("scrape %d: found no snapshot", scrape)
		}
		if got, want := len(live.Timeline.Points), map[bool]int{true: length}[scrape >= len(bodies)-1]; got != want {
			t.Errorf("scrape %d: found %d intervals, wanted %d", scrape, got, want)
		}
	}
	if asked != len(bodies) {
		t.Errorf("the course was read %d times, wanted %d", asked, len(bodies))
	}
}

// endless writes until the reader closes the connection.
func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", wire.ScrapeAccept)
	for err := error(nil); err == nil; {
		_, err = w.Write(make([]byte, 1<<16))
	}
}

// TestDue: progress waits for 2 s, or longer beside many runs, and urgent news for 0.2 s.
func TestDue(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	failed := snapshot(0, results.StageConnecting)
	failed.Failure = &results.Failure{Reason: results.FailureTLSFailed}
	tests := map[string]struct {
		before, after *results.Snapshot
		since         time.Duration
		runs          int
		want          bool
	}{
		"nothing new":              {nil, nil, time.Hour, 1, false},
		"news too soon":            {nil, snapshot(0, results.StageConnecting), 1900 * time.Millisecond, 20, false},
		"news":                     {nil, snapshot(0, results.StageConnecting), 2 * time.Second, 20, true},
		"news too soon, many runs": {nil, snapshot(0, results.StageConnecting), 9900 * time.Millisecond, 100, false},
		"news, many runs":          {nil, snapshot(0, results.StageConnecting), 10 * time.Second, 100, true},
		"ready":                    {snapshot(0, results.StageConnecting), snapshot(0, results.StageReady), 200 * time.Millisecond, 1, true},
		"ready, many runs":         {snapshot(0, results.StageConnecting), snapshot(0, results.StageReady), 200 * time.Millisecond, 100, true},
		"ready, too soon":          {snapshot(0, results.StageConnecting), snapshot(0, results.StageReady), 100 * time.Millisecond, 1, false},
		"done":                     {snapshot(0, results.StageCleaning), snapshot(0, results.StageDone), 200 * time.Millisecond, 1, true},
		"more of the same stage":   {snapshot(0, results.StageCleaning), snapshot(0, results.StageCleaning), time.Second, 1, false},
		"failed":                   {snapshot(0, results.StageConnecting), failed, 200 * time.Millisecond, 1, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRun(uid, key)
			r.watch([]Pod{{Name: "p"}}, begin)
			r.pods["p"].live = tc.before
			r.publish(begin)
			r.take(map[string]answer{"p": {snapshot: tc.after, course: &results.Snapshot{}}}, begin)
			if got := r.due(begin.Add(tc.since), publishInterval(tc.runs)); got != tc.want {
				t.Errorf("wanted due: %v, found %v", tc.want, got)
			}
		})
	}
}

// TestUrgentNewsOfManyPods: a reconcile of a run of 1,000 pods goes through all of them, so their news come together.
func TestUrgentNewsOfManyPods(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := newRun(uid, key)
	r.watch(podsNamed(1000), begin)
	r.publish(begin)
	r.take(map[string]answer{"7": {snapshot: snapshot(7, results.StageReady)}}, begin)
	for since, want := range map[time.Duration]bool{999 * time.Millisecond: false, time.Second: true} {
		if got := r.due(begin.Add(since), publishEvery); got != want {
			t.Errorf("after %s: wanted due: %v, found %v", since, want, got)
		}
	}
}

// Runs that wait have no pods: they do not make the progress of others rarer.
func TestOnlyRunsWithPodsCount(t *testing.T) {
	c := New(nil)
	c.Watch("waits", types.NamespacedName{Name: "waits"}, nil, Phase{})
	c.Watch("loads", types.NamespacedName{Name: "loads"}, []Pod{{Name: "p"}}, Phase{})
	for range 2 {
		c.idle(0)
		if c.scraped != 1 {
			t.Errorf("wanted 1 run that is scraped, found %d", c.scraped)
		}
	}
}

// TestResultsKeepTheirResolution: packing loses nothing.
func TestResultsKeepTheirResolution(t *testing.T) {
	s, op := snapshot(0, results.StageMeasuring), &results.OperationResult{}
	for i := range int64(1000) {
		op.Latency.Record(i * 1e6)
	}
	op.CompletedInWindow = 1000
	s.Operations = map[spec.Operation]*results.OperationResult{spec.OperationPut: op}
	c := serve(t, metrics(s))
	c.Watch(uid, key, []Pod{{Name: "p", IP: "198.18.0.1"}}, Phase{})
	c.scrape(t.Context(), c.runs[uid])
	last := c.Results(uid)["p"].Last
	if last == nil {
		t.Fatalf("wanted an answer, found the problem %q", c.Results(uid)["p"].Problem)
	}
	if got := last.Operations[spec.OperationPut].Latency; !got.Equal(op.Latency) {
		t.Errorf("wanted all that was recorded, found %d requests at schema %d", got.Count(), got.Schema())
	}
}

// TestRunsAreSpread: each run is scraped once per interval, and not all at the same time.
func TestRunsAreSpread(t *testing.T) {
	c := New(nil)
	for i := range 2 * slots {
		name := fmt.Sprint(i)
		c.Watch(types.UID(name), types.NamespacedName{Name: name}, []Pod{{Name: "p"}}, Phase{})
	}
	for slot := range slots {
		if n := len(c.idle(slot)); n != 2 {
			t.Errorf("wanted 2 runs in slot %d, found %d", slot, n)
		}
	}
}

func TestUnreachable(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r := newRun(uid, key)
	r.watch([]Pod{{Name: "silent"}, {Name: "talks"}}, begin)
	r.take(map[string]answer{"talks": {snapshot: snapshot(0, results.StageReady)}}, begin.Add(12*time.Second))
	if r.pods["silent"].unreachable {
		t.Error("wanted a pod that left one scrape unanswered to be reachable")
	}
	r.take(nil, begin.Add(13*time.Second))
	if !r.pods["silent"].unreachable || r.pods["talks"].unreachable {
		t.Errorf("wanted the silent pod to be unreachable after 10 s, and only that, found %+v", r.pods)
	}
	r.take(map[string]answer{"silent": {snapshot: snapshot(0, results.StageReady)}}, begin.Add(14*time.Second))
	if r.pods["silent"].unreachable {
		t.Error("wanted a pod that answers to be reachable")
	}
	r.take(nil, begin.Add(time.Minute))
	if r.pods["silent"].unreachable {
		t.Error("wanted a pod that was not asked again to be reachable")
	}
	r.toScrape(begin.Add(time.Minute), 1)
	r.take(nil, begin.Add(time.Minute+9*time.Second))
	if r.pods["silent"].unreachable {
		t.Error("wanted a pod that was asked 9 s ago to be reachable, however long ago it was asked before")
	}
	r.toScrape(begin.Add(time.Minute+9*time.Second), 1)
	r.take(nil, begin.Add(time.Minute+10*time.Second))
	if !r.pods["silent"].unreachable {
		t.Error("wanted a pod that did not answer for 10 s to be unreachable")
	}
}

// TestDoneIsNotScrapedAgain also checks that a pod that is no longer watched keeps its result.
func TestDoneIsNotScrapedAgain(t *testing.T) {
	r := newRun(uid, key)
	r.watch([]Pod{{Name: "p"}}, time.Time{})
	// Without the course, the pod is asked some more times.
	for range courseAttempts {
		r.take(map[string]answer{"p": {snapshot: snapshot(0, results.StageDone)}}, time.Time{})
		if pods := r.toScrape(time.Time{}, 1); len(pods) != 1 {
			t.Fatalf("wanted the pod to be scraped again for its course, found %v", pods)
		}
	}
	r.take(map[string]answer{"p": {snapshot: snapshot(0, results.StageDone)}}, time.Time{})
	if pods := r.toScrape(time.Time{}, 1); len(pods) != 0 {
		t.Errorf("wanted nothing to scrape, found %v", pods)
	}
	r.publish(time.Time{})
	r.watch(nil, time.Time{})
	if r.published["p"].Live == nil {
		t.Error("wanted the final result to stay")
	}
}

// TestTheLastScrapeCounts: for a killed pod, only counts after its last scrape may be missing, published or not.
func TestTheLastScrapeCounts(t *testing.T) {
	r := newRun(uid, key)
	r.watch([]Pod{{Name: "killed"}, {Name: "lives", Index: 1}}, time.Time{})
	first, last := snapshot(0, results.StageMeasuring), snapshot(0, results.StageMeasuring)
	r.take(map[string]answer{"killed": {snapshot: first}}, time.Time{})
	r.publish(time.Time{})
	r.take(map[string]answer{"killed": {snapshot: last}}, time.Time{})
	r.watch([]Pod{{Name: "lives", Index: 1}}, time.Time{})
	if r.published["killed"].Live != last {
		t.Error("wanted the last scrape of the pod that was killed, found an older one")
	}
	r.publish(time.Time{})
	if r.published["killed"].Live != last {
		t.Error("wanted it to stay")
	}
}

// TestReplacedPodsAreForgotten: the memory per index is bounded, for any number of replacements.
func TestReplacedPodsAreForgotten(t *testing.T) {
	c := New(nil)
	for _, name := range []string{"first", "second", "third"} {
		c.Watch(uid, key, []Pod{{Name: name, Index: 1, IP: name}}, Phase{})
		c.runs[uid].take(map[string]answer{name: {snapshot: snapshot(1, results.StageReady)}}, time.Time{})
		c.Keep(uid, name, snapshot(1, results.StageDone))
	}
	c.Watch(uid, key, []Pod{{Name: "last", Index: 1, IP: "last"}}, Phase{})
	got := c.Results(uid)
	if _, ok := got["last"]; !ok || len(got) > 2 || got["third"].Message == nil {
		t.Errorf("wanted the pod that is there, and the message of the one before, found %v", got)
	}
}

func TestKeepAndForget(t *testing.T) {
	c := New(nil)
	message := snapshot(0, results.StageDone)
	c.Keep(uid, "p", message)
	if c.Results(uid) != nil {
		t.Error("wanted nothing to be kept of a run that is not watched")
	}
	c.Watch(uid, key, nil, Phase{})
	c.Keep(uid, "p", message)
	if c.Results(uid)["p"].Message != message {
		t.Error("wanted the message of a pod that is gone to be kept")
	}
	c.Forget(key)
	if c.Results(uid) != nil {
		t.Error("wanted nothing to be left of a run that is forgotten")
	}
}

// TestAsked: the time since which a pod is scraped is known before its first answer, and ends when it is no longer
// scraped.
func TestAsked(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := New(nil)
	c.now = func() time.Time { return now }
	pods := []Pod{{Name: "p", IP: "198.18.0.1"}}
	for range 3 {
		c.Watch(uid, key, pods, Phase{})
		now = now.Add(2 * time.Second)
	}
	if got := c.Results(uid)["p"].Asked; got != 6*time.Second {
		t.Errorf("wanted the pod to be asked for 6 s, found %s", got)
	}
	c.Watch(uid, key, nil, Phase{})
	if got := c.Results(uid)["p"].Asked; got != 0 {
		t.Errorf("wanted the pod not to be scraped, found it for %s", got)
	}
}
