package collector

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	scrapeEvery = time.Second
	// While more than manyPods are scraped, those that wait for their start or only load are scraped less often, so that
	// about manyPods answer per scrapeEvery, but each at least every mostSteps × scrapeEvery, or as often as the progress of
	// its run is published.
	manyPods  = 100
	mostSteps = 5
	// slots spread the runs over scrapeEvery, so that the answers of all pods do not arrive at once.
	slots = 10
	// publishEvery is the shortest time between two progress events of a run, and so between two writes of its status.
	// With many runs it is publishGap for each of them, so that the operator writes progress at most ten times a second.
	publishEvery = 2 * time.Second
	publishGap   = 100 * time.Millisecond
	// urgentEvery replaces publishEvery for news that the run waits for: a pod is ready, has measured, is done or has
	// failed.
	urgentEvery = 200 * time.Millisecond
	// podGap for each scraped pod is the shortest time between two urgent events of a run, and how long news of one of its pods
	// waits for others: each reconcile goes through all pods, and most write all of them into status.
	podGap = time.Millisecond
	// A pod that leaves unreachableScrapes unanswered, for unreachableAfter, counts as unreachable.
	unreachableAfter   = 10 * time.Second
	unreachableScrapes = 2
	// eventBuffer is the number of runs that can wait for the reconciler. A run that finds the buffer full is published
	// at the next scrape.
	eventBuffer = 256
)

// Collector scrapes client pods. Its zero value is not usable; see New.
type Collector struct {
	scraper scraper
	now     func() time.Time
	events  chan event.TypedGenericEvent[client.Object]

	mu   sync.Mutex
	runs map[types.UID]*run
	// scraped is how many of them had pods to scrape at the last tick, in any slot, and pods is how many pods that were.
	scraped, pods int
	// runNumber is the number of the next run.
	runNumber int
}

// Pod is a client pod to scrape.
type Pod struct {
	Name  string
	Index int
	IP    string
}

// Result is the known state of a client pod.
type Result struct {
	// Live is the newest published scrape; nil if there was none.
	Live *results.Snapshot
	// Last is the newest scrape, published or not. The last scrape of a pod that has ended is not published, but no
	// other source has its counts.
	Last *results.Snapshot
	// Message is the pod's termination message; nil if there is none.
	Message *results.Snapshot
	// Clock is the offset of the pod's clock; nil if unknown.
	Clock *Clock
	// Unreachable means that scrapes have failed for 10 s; Problem is why the last one did.
	Unreachable bool
	Problem     string
	// Asked is how long the pod has been scraped; 0 if it is not scraped.
	Asked time.Duration
}

// New returns a collector that scrapes plan.MetricsPort. transport may be nil; tests use it to route pod addresses to
// their own servers.
func New(transport http.RoundTripper) *Collector {
	return &Collector{
		scraper: newScraper(transport, plan.MetricsPort),
		now:     time.Now,
		events:  make(chan event.TypedGenericEvent[client.Object], eventBuffer),
		runs:    map[types.UID]*run{},
	}
}

// Events reports the EtcdBenchmarks that have new results.
func (c *Collector) Events() <-chan event.TypedGenericEvent[client.Object] { return c.events }

// Start scrapes until ctx ends. A slow run does not delay other runs.
func (c *Collector) Start(ctx context.Context) error {
	tick := time.NewTicker(scrapeEvery / slots)
	defer tick.Stop()
	var busy sync.WaitGroup
	defer busy.Wait()
	for slot := 0; ; slot = (slot + 1) % slots {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			for _, r := range c.idle(slot) {
				busy.Go(func() { c.scrape(ctx, r) })
			}
		}
	}
}

// Phase is what a run waits for.
type Phase struct {
	// Start is the common start of the pods; zero before it is set.
	Start time.Time
	// Ends is whether the run waits for its pods to end: they are scraped often, however many there are.
	Ends bool
}

// Watch sets the pods of the run to scrape from now on.
func (c *Collector) Watch(uid types.UID, key types.NamespacedName, pods []Pod, phase Phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.runs[uid]
	if !ok {
		r = newRun(uid, key)
		r.number = c.runNumber
		// All runs count the same seconds, whenever they begin; runs of the same slot have their turns in different seconds.
		r.turn = int(c.now().Unix()) + r.number/slots
		c.runNumber++
		c.runs[uid] = r
	}
	r.phase = phase
	r.watch(pods, c.now())
}

// Keep saves a pod's termination message, in case the pod is deleted before the next reconcile. It ignores runs that
// are not watched.
func (c *Collector) Keep(uid types.UID, pod string, message *results.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.runs[uid]; ok {
		r.terminations[message.Index] = terminationResult{pod, message}
	}
}

// Results returns the known results of a run's pods, by name.
func (c *Collector) Results(uid types.UID) map[string]Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.runs[uid]
	if !ok {
		return nil
	}
	out := maps.Clone(r.published)
	for name, w := range r.pods {
		result := out[name]
		result.Last, result.Asked = cmp.Or(w.live, result.Last), c.now().Sub(w.since)
		out[name] = result
	}
	for _, t := range r.terminations {
		result := out[t.pod]
		result.Message = t.snapshot
		out[t.pod] = result
	}
	return out
}

// Forget stops scraping a run and drops its results.
func (c *Collector) Forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.runs, func(_ types.UID, r *run) bool { return r.key == key })
}

// idle returns the runs of a slot that have pods to scrape and no scrape in progress, and marks them busy.
func (c *Collector) idle(slot int) []*run {
	c.mu.Lock()
	defer c.mu.Unlock()
	var idle []*run
	c.scraped, c.pods = 0, 0
	for _, r := range c.runs {
		if len(r.pods) == 0 {
			continue
		}
		c.scraped++
		c.pods += len(r.pods)
		if r.number%slots == slot && !r.busy {
			r.busy = true
			idle = append(idle, r)
		}
	}
	return idle
}

// scrape reads all pods of a run once and triggers the reconciler if it is time.
func (c *Collector) scrape(ctx context.Context, r *run) {
	answers, errs := c.scraper.scrapeAll(ctx, round{run: r.uid, now: c.now}, c.podsOf(r))
	c.mu.Lock()
	defer c.mu.Unlock()
	r.busy = false
	now := c.now()
	r.take(answers, now)
	r.explain(errs)
	if r.due(now, publishInterval(c.scraped)) && c.wake(r) {
		r.publish(now)
	}
}

// publishInterval is the shortest time between two progress events of one of so many runs.
func publishInterval(runs int) time.Duration {
	return max(publishEvery, time.Duration(runs)*publishGap)
}

// Pause is how long news of one pod of the run may wait for that of others.
func (c *Collector) Pause(uid types.UID) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.runs[uid]; ok {
		return r.pause()
	}
	return 0
}

// podsOf returns the pods of a run to scrape now.
func (c *Collector) podsOf(r *run) []target {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := max(mostSteps, int(publishInterval(c.scraped)/scrapeEvery))
	return r.toScrape(c.now(), max(min((c.pods+manyPods-1)/manyPods, most), 1))
}

// wake reports whether the event buffer had room.
func (c *Collector) wake(r *run) bool {
	object := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: r.key.Name}}
	select {
	case c.events <- event.TypedGenericEvent[client.Object]{Object: object}:
		return true
	default:
		return false
	}
}
