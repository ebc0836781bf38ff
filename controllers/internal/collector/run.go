package collector

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// run is the state of one run. The collector's mutex guards it.
type run struct {
	uid  types.UID
	key  types.NamespacedName
	busy bool
	// number spreads the runs over a second.
	number int
	// turn increases with each scrape. It spreads the pods that are scraped less often over the seconds.
	turn  int
	phase Phase

	pods map[string]*scrapedPod
	// published is what the reconciler sees; it changes only with an event.
	published   map[string]Result
	publishedAt time.Time
	// terminations has at most one entry per index, however often the pods are replaced.
	terminations map[int]terminationResult
}

// terminationResult are a pod's termination message.
type terminationResult struct {
	pod      string
	snapshot *results.Snapshot
}

// scrapedPod is a pod that is scraped.
type scrapedPod struct {
	Pod
	live *results.Snapshot
	// course is what happened over the window; nil until the pod has measured.
	course *results.Snapshot
	// asked is how often a pod that was done was asked for its course in vain.
	asked int
	// clock is the most exact reading of the pod's clock; nil before the first.
	clock *Clock
	// since is the time of the first scrape. unanswered is whether the last scrape has no answer, or there was none; silent
	// is since when, and missed is how many scrapes that are.
	since       time.Time
	silent      time.Time
	missed      int
	unanswered  bool
	unreachable bool
	// problem is why the last scrape failed.
	problem string
}

// target is a pod to scrape, its course if that is known, and whether it answered the last scrape.
type target struct {
	Pod
	course   *results.Snapshot
	answered bool
}

func newRun(uid types.UID, key types.NamespacedName) *run {
	return &run{
		uid: uid, key: key,
		pods:         map[string]*scrapedPod{},
		published:    map[string]Result{},
		terminations: map[int]terminationResult{},
	}
}

// watch keeps the results of pods that are no longer scraped. The last scrape of a killed pod may not have been
// published, and no other source has its counts.
func (r *run) watch(pods []Pod, now time.Time) {
	wanted, at := map[string]bool{}, map[int]string{}
	for _, p := range pods {
		wanted[p.Name], at[p.Index] = true, p.Name
		if old, ok := r.pods[p.Name]; !ok || old.Pod != p {
			r.pods[p.Name] = &scrapedPod{Pod: p, since: now, silent: now, unanswered: true}
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

// forgetReplaced drops the results of replaced pods, so that the memory of a run stays bounded.
func (r *run) forgetReplaced(at map[int]string) {
	maps.DeleteFunc(r.published, func(name string, r Result) bool {
		return r.Live != nil && at[r.Live.Index] != "" && at[r.Live.Index] != name
	})
}

func (w *scrapedPod) result() Result {
	return Result{Live: w.live, Last: w.live, Clock: w.clock, Unreachable: w.unreachable, Problem: w.problem}
}

// podsPerTurn is how many pods of a run have their turn together. From a scrape until the run's progress is published, the
// collector has two snapshots of a pod: for pods that are scraped just before that, only briefly.
const podsPerTurn = 10

// toScrape begins a scrape: it returns the pods to ask, which are unanswered until they answer. It leaves out pods whose final
// result has arrived. A pod that waits for its start, or only loads, has its turn once in so many steps.
func (r *run) toScrape(now time.Time, steps int) []target {
	r.turn++
	var out []target
	for _, w := range r.pods {
		done := w.live != nil && w.live.Stage == results.StageDone
		every := steps
		if w.Index == 0 {
			// It watches the target for all pods.
			every = min(every, mostSteps)
		}
		hasTurn := (r.turn+w.Index/podsPerTurn)%every == 0
		if !done && (hasTurn || r.phase.Ends || w.unanswered || !w.hasNoNews(r.phase.Start, now)) {
			out = append(out, target{w.Pod, w.course, !w.unanswered})
			if !w.unanswered {
				w.unanswered, w.silent = true, now
			}
		}
	}
	return out
}

// hasNoNews reports whether the pod waits for its start, or loads and should not have ended yet, as far as is known. Such
// a pod has rarely other news than its progress.
func (w *scrapedPod) hasNoNews(start, now time.Time) bool {
	switch {
	case w.live == nil:
		return false
	case w.live.Stage == results.StageReady:
		return start.IsZero() || now.Before(start)
	case w.live.Stage != results.StageMeasuring:
		return false
	}
	window := w.live.Window
	return window.Planned == 0 || now.Before(window.Start.Add(window.Planned))
}

// take stores the answers; a pod that did not answer is missing in them.
func (r *run) take(answers map[string]answer, now time.Time) {
	for name, w := range r.pods {
		if a, ok := answers[name]; ok && w.awaitsCourse(a) {
			w.unanswered = false
			w.asked++
		} else if ok {
			w.live, w.course, w.clock = a.snapshot, a.course, moreExact(w.clock, a.clock)
			w.unanswered = false
		}
		if !w.unanswered {
			w.missed = 0
		} else {
			w.missed++
		}
		done := w.live != nil && w.live.Stage == results.StageDone
		w.unreachable = !done && w.missed >= unreachableScrapes && now.Sub(w.silent) >= unreachableAfter
	}
}

// explain stores why pods did not answer.
func (r *run) explain(errs map[string]error) {
	for name, w := range r.pods {
		if err := errs[name]; err != nil {
			w.problem = err.Error()
		}
	}
}

// courseAttempts is how often a pod that is done is asked for its course.
const courseAttempts = 3

// awaitsCourse reports whether to leave out an answer: a final result is taken with its course if there is one, because
// the run can end as soon as all final results are there.
func (w *scrapedPod) awaitsCourse(a answer) bool {
	return a.snapshot != nil && a.snapshot.Stage == results.StageDone && a.course == nil && w.asked < courseAttempts
}

// due reports whether there is news and enough time has passed since the last event.
func (r *run) due(now time.Time, every time.Duration) bool {
	news, urgent := false, false
	for name, w := range r.pods {
		old := r.published[name]
		news = news || old.Live != w.live || old.Unreachable != w.unreachable
		urgent = urgent || isUrgent(old, w)
	}
	since := now.Sub(r.publishedAt)
	return news && since >= every || urgent && since >= max(urgentEvery, r.pause())
}

func (r *run) pause() time.Duration { return time.Duration(len(r.pods)) * podGap }

// isUrgent reports whether the run may be waiting for this news.
func isUrgent(old Result, w *scrapedPod) bool {
	if w.live == nil || old.Live == w.live {
		return old.Unreachable != w.unreachable
	}
	failed := w.live.Failure != nil && (old.Live == nil || old.Live.Failure == nil)
	fired := w.live.Fired != nil && (old.Live == nil || old.Live.Fired == nil)
	return failed || fired || awaited[w.live.Stage] && (old.Live == nil || old.Live.Stage != w.live.Stage)
}

// awaited are the stages that let the run continue.
var awaited = map[results.Stage]bool{
	results.StageWaiting:    true,
	results.StageLocking:    true,
	results.StageClaiming:   true,
	results.StagePreloading: true,
	results.StageReady:      true,
	results.StageDraining:   true,
	results.StageCleaning:   true,
	results.StageDone:       true,
}

func (r *run) publish(now time.Time) {
	for name, w := range r.pods {
		r.published[name] = w.result()
	}
	r.publishedAt = now
}
