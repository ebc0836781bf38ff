package collector

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// run is what is known of one run. The collector's mutex guards it.
type run struct {
	uid  types.UID
	key  types.NamespacedName
	busy bool

	pods map[string]*watched
	// published is what the reconciler sees; it changes only when it is woken.
	published   map[string]Result
	publishedAt time.Time
	// left has one entry for each index, whatever becomes of its pods.
	left map[int]words
}

// words are what the termination message of a pod said.
type words struct {
	pod  string
	said *results.Snapshot
}

// watched is one pod that is scraped.
type watched struct {
	Pod
	live *results.Snapshot
	// clock is the best reading of the pod's clock, nil before the first.
	clock *Clock
	// answered is when the pod answered last, at first since, when it was seen.
	answered    time.Time
	since       time.Time
	unreachable bool
}

func newRun(uid types.UID, key types.NamespacedName) *run {
	return &run{
		uid: uid, key: key,
		pods:      map[string]*watched{},
		published: map[string]Result{},
		left:      map[int]words{},
	}
}

// watch keeps what is known of pods that are no longer scraped. The last scrape
// of one that was killed may not have been published: nothing else has its counts.
func (r *run) watch(pods []Pod, now time.Time) {
	wanted, at := map[string]bool{}, map[int]string{}
	for _, p := range pods {
		wanted[p.Name], at[p.Index] = true, p.Name
		if old, ok := r.pods[p.Name]; !ok || old.Pod != p {
			r.pods[p.Name] = &watched{Pod: p, answered: now, since: now}
		}
	}
	for name, w := range r.pods {
		if wanted[name] {
			continue
		}
		if w.live != nil {
			r.published[name] = w.result()
		}
		delete(r.pods, name)
	}
	r.forgetReplaced(at)
}

// forgetReplaced drops what pods said that others, who have their index, have
// taken the place of: however often that happens, a run holds no more than what
// its pods said.
func (r *run) forgetReplaced(at map[int]string) {
	maps.DeleteFunc(r.published, func(name string, said Result) bool {
		return said.Live != nil && at[said.Live.Index] != "" && at[said.Live.Index] != name
	})
}

func (w *watched) result() Result {
	return Result{Live: w.live, Last: w.live, Clock: w.clock, Unreachable: w.unreachable}
}

// toScrape leaves out pods whose final result is here.
func (r *run) toScrape() []Pod {
	var out []Pod
	for _, w := range r.pods {
		if w.live == nil || w.live.Stage != results.StageDone {
			out = append(out, w.Pod)
		}
	}
	return out
}

// take keeps the answers; a pod that did not answer has none.
func (r *run) take(answers map[string]answer, now time.Time) {
	for name, w := range r.pods {
		if a, ok := answers[name]; ok {
			w.live, w.answered, w.clock = a.snapshot, now, better(w.clock, a.clock)
		}
		done := w.live != nil && w.live.Stage == results.StageDone
		w.unreachable = !done && now.Sub(w.answered) >= unreachableAfter
	}
}

// due says whether there is news, and enough time has passed since the last.
func (r *run) due(now time.Time) bool {
	news, urgent := false, false
	for name, w := range r.pods {
		old := r.published[name]
		news = news || old.Live != w.live || old.Unreachable != w.unreachable
		urgent = urgent || isUrgent(old, w)
	}
	since := now.Sub(r.publishedAt)
	return news && since >= publishEvery || urgent && since >= urgentEvery
}

// isUrgent says whether the run may wait for this news.
func isUrgent(old Result, w *watched) bool {
	if w.live == nil || old.Live == w.live {
		return old.Unreachable != w.unreachable
	}
	failed := w.live.Failure != nil && (old.Live == nil || old.Live.Failure == nil)
	fired := w.live.Fired != nil && (old.Live == nil || old.Live.Fired == nil)
	return failed || fired || awaited[w.live.Stage] && (old.Live == nil || old.Live.Stage != w.live.Stage)
}

// awaited are the stages whose reach moves the run on.
var awaited = map[results.Stage]bool{
	results.StageWaiting:  true,
	results.StageReady:    true,
	results.StageDraining: true,
	results.StageCleaning: true,
	results.StageDone:     true,
}

func (r *run) publish(now time.Time) {
	for name, w := range r.pods {
		r.published[name] = w.result()
	}
	r.publishedAt = now
}
