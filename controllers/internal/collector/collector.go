package collector

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
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
	// publishEvery bounds how often progress wakes the reconciler, and so how
	// often status is written.
	publishEvery = 2 * time.Second
	// urgentEvery is the same for what the run waits for: a pod that is ready,
	// has measured, is done or has failed.
	urgentEvery = 200 * time.Millisecond
	// unreachableAfter is when a pod that never answers is called unreachable.
	unreachableAfter = 10 * time.Second
	// eventBuffer is how many runs can wait for the reconciler to be woken; one
	// that finds no room is published at the next scrape.
	eventBuffer = 256
)

// Collector scrapes client pods. Its zero value is not usable; see New.
type Collector struct {
	scraper scraper
	now     func() time.Time
	events  chan event.TypedGenericEvent[client.Object]

	mu   sync.Mutex
	runs map[types.UID]*run
}

// Pod is a client pod to scrape.
type Pod struct {
	Name  string
	Index int
	IP    string
}

// Result is what is known of a client pod.
type Result struct {
	// Live is the newest published scrape; nil if there was none.
	Live *results.Snapshot
	// Last is the newest scrape, published or not: that of a pod that has ended
	// will not be published, and nothing else has its counts.
	Last *results.Snapshot
	// Left is what the pod's termination message said; nil if none was seen.
	Left *results.Snapshot
	// Clock is how far the pod's clock is off; nil if no scrape told.
	Clock *Clock
	// Unreachable says that scrapes have failed for 10 s.
	Unreachable bool
	// Asked is for how long the pod has been scraped, 0 if it is not.
	Asked time.Duration
}

// New returns a collector that scrapes plan.MetricsPort. transport may be nil;
// tests route pods' addresses to servers of their own with it.
func New(transport http.RoundTripper) *Collector {
	return &Collector{
		scraper: newScraper(transport, plan.MetricsPort),
		now:     time.Now,
		events:  make(chan event.TypedGenericEvent[client.Object], eventBuffer),
		runs:    map[types.UID]*run{},
	}
}

// Events tells which EtcdBenchmarks have new results.
func (c *Collector) Events() <-chan event.TypedGenericEvent[client.Object] { return c.events }

// Start scrapes until ctx ends. A run that is slow to answer delays no other.
func (c *Collector) Start(ctx context.Context) error {
	tick := time.NewTicker(scrapeEvery)
	defer tick.Stop()
	var busy sync.WaitGroup
	defer busy.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			for _, r := range c.idle() {
				busy.Go(func() { c.scrape(ctx, r) })
			}
		}
	}
}

// Watch makes the collector scrape exactly these pods of the run from now on.
func (c *Collector) Watch(uid types.UID, key types.NamespacedName, pods []Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.runs[uid]
	if !ok {
		r = newRun(uid, key)
		c.runs[uid] = r
	}
	r.watch(pods, c.now())
}

// Keep remembers what the termination message of a pod of the run said, for the
// case that the pod is deleted before it is looked at. Runs that are not watched
// are ignored.
func (c *Collector) Keep(uid types.UID, pod string, left *results.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.runs[uid]; ok {
		r.left[left.Index] = words{pod, left}
	}
}

// Results returns what is known of a run's pods, by name.
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
	for _, left := range r.left {
		result := out[left.pod]
		result.Left = left.said
		out[left.pod] = result
	}
	return out
}

// Forget ends the scraping of a run and drops what is known of it.
func (c *Collector) Forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.runs, func(_ types.UID, r *run) bool { return r.key == key })
}

// idle returns the runs with pods to scrape and no scrape under way, and marks
// them busy.
func (c *Collector) idle() []*run {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := slices.DeleteFunc(slices.Collect(maps.Values(c.runs)), func(r *run) bool { return r.busy || len(r.pods) == 0 })
	for _, r := range idle {
		r.busy = true
	}
	return idle
}

// scrape reads all pods of a run once and wakes the reconciler if it is time.
func (c *Collector) scrape(ctx context.Context, r *run) {
	answers := c.scraper.scrapeAll(ctx, r.uid, c.podsOf(r))
	c.mu.Lock()
	defer c.mu.Unlock()
	r.busy = false
	now := c.now()
	r.take(answers, now)
	if r.due(now) && c.wake(r) {
		r.publish(now)
	}
}

func (c *Collector) podsOf(r *run) []Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return r.toScrape()
}

// wake says whether there was room for the event.
func (c *Collector) wake(r *run) bool {
	object := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Namespace: r.key.Namespace, Name: r.key.Name}}
	select {
	case c.events <- event.TypedGenericEvent[client.Object]{Object: object}:
		return true
	default:
		return false
	}
}
