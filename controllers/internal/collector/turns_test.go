package collector

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestManyPodsThatLoadAreScrapedLessOften: only while nothing but progress is expected.
func TestManyPodsThatLoadAreScrapedLessOften(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	loads := results.Window{Start: begin, Planned: time.Hour}
	tests := map[string]struct {
		others int
		change func(*run, *scrapedPod)
		want   int
	}{
		"few pods":             {manyPods - 10, nil, 60},
		"many pods":            {2 * manyPods, nil, 20},
		"thousands of pods":    {9000, nil, 12},
		"of 100 runs":          {9000, nil, 6},
		"no planned end":       {2 * manyPods, func(_ *run, w *scrapedPod) { w.live.Window.Planned = 0 }, 20},
		"no answer yet":        {2 * manyPods, func(_ *run, w *scrapedPod) { w.live = nil }, 60},
		"the last was missed":  {2 * manyPods, func(_ *run, w *scrapedPod) { w.unanswered = true }, 60},
		"is ready":             {2 * manyPods, func(_ *run, w *scrapedPod) { w.live.Stage = results.StageReady }, 20},
		"has its start":        {2 * manyPods, func(r *run, w *scrapedPod) { w.live.Stage, r.phase.Start = results.StageReady, begin.Add(time.Minute) }, 20},
		"should have started":  {2 * manyPods, func(r *run, w *scrapedPod) { w.live.Stage, r.phase.Start = results.StageReady, begin.Add(-time.Second) }, 60},
		"claims its keys":      {2 * manyPods, func(_ *run, w *scrapedPod) { w.live.Stage = results.StageClaiming }, 60},
		"has measured":         {2 * manyPods, func(_ *run, w *scrapedPod) { w.live.Stage = results.StageCleaning }, 60},
		"the window has ended": {2 * manyPods, func(_ *run, w *scrapedPod) { w.live.Window.Start = begin.Add(-time.Hour) }, 60},
		"the run ends":         {2 * manyPods, func(r *run, _ *scrapedPod) { r.phase.Ends = true }, 60},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := New(nil)
			if c.now = func() time.Time { return begin }; name == "of 100 runs" {
				c.scraped = 100
			}
			pods := podsNamed(podsPerTurn)
			c.Watch(uid, key, pods, Phase{})
			r, asked, first, allOthers := c.runs[uid], 0, 0, 0
			for range 60 {
				for i, p := range pods {
					w := r.pods[p.Name]
					w.live, w.unanswered = snapshot(i, results.StageMeasuring), false
					if w.live.Window = loads; i == 3 && tc.change != nil {
						tc.change(r, w)
					}
				}
				c.pods = tc.others + len(pods)
				for _, p := range c.podsOf(r) {
					if p.Index == 0 {
						first++
					}
					if p.Index == 3 {
						asked++
					} else {
						allOthers++
					}
				}
			}
			if asked != tc.want {
				t.Errorf("wanted %d scrapes in a minute, found %d", tc.want, asked)
			}
			if tc.others >= 9000 && first != 12 {
				t.Errorf("wanted 12 scrapes of client pod 0 in a minute, found %d", first)
			}
			// One pod with news does not bring back the cost of all.
			if want := first + 8*20; tc.others == 2*manyPods && !r.phase.Ends && allOthers != want {
				t.Errorf("wanted %d scrapes of the 9 other pods in a minute, found %d", want, allOthers)
			}
		})
	}
}

// TestTheTurnsOfPods: the pods of a wide run are spread over the turns. Up to podsPerTurn pods have their turn together.
func TestTheTurnsOfPods(t *testing.T) {
	const steps = 5
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for pods, want := range map[int]int{podsPerTurn: podsPerTurn, 100: 20, 1000: 200} {
		r, all := newRun(uid, key), podsNamed(pods)
		r.watch(all, begin)
		most, sum := 0, 0
		for range steps {
			allReady(r)
			n := len(r.toScrape(begin, steps))
			most, sum = max(most, n), sum+n
		}
		if most != want || sum != pods {
			t.Errorf("%d pods: %d have their turn together and %d have one, wanted %d and %d", pods, most, sum, want, pods)
		}
	}
}

// TestTheTurnsOfRuns: however far apart 100 runs begin, their pods are scraped at different times.
func TestTheTurnsOfRuns(t *testing.T) {
	const runs = 100
	for _, perSecond := range []int{1, 9, 10, 11, runs} {
		c, now := New(nil), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c.now = func() time.Time { return now }
		mostPerSecond, mostPerSlot := 0, 0
		for second := range 2 * runs {
			for i := second * perSecond; i < min(runs, (second+1)*perSecond); i++ {
				id := types.UID(fmt.Sprint(i))
				c.Watch(id, types.NamespacedName{Name: string(id)}, podsNamed(podsPerTurn), Phase{})
			}
			asked, inSlot := 0, [slots]int{}
			c.pods, c.scraped = runs*podsPerTurn, runs
			for _, r := range c.runs {
				allReady(r)
				n := len(c.podsOf(r))
				asked, inSlot[r.number%slots] = asked+n, inSlot[r.number%slots]+n
			}
			mostPerSecond, mostPerSlot = max(mostPerSecond, asked), max(mostPerSlot, slices.Max(inSlot[:]))
			now = now.Add(scrapeEvery)
		}
		if mostPerSecond > 2*manyPods || mostPerSlot > 4*manyPods/slots {
			t.Errorf("%d runs begin per second: found up to %d scrapes in a second and %d in a slot", perSecond, mostPerSecond, mostPerSlot)
		}
	}
}

func podsNamed(n int) (pods []Pod) {
	for i := range n {
		pods = append(pods, Pod{Name: fmt.Sprint(i), Index: i})
	}
	return pods
}

// allReady lets all pods of a run answer that they wait for their start.
func allReady(r *run) {
	for _, w := range r.pods {
		w.live, w.unanswered = snapshot(w.Index, results.StageReady), false
	}
}
