package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// asked is a pod that a restarted operator has not scraped yet.
func asked(at time.Duration, kept results.Stage) func(*Pod) {
	return func(p *Pod) {
		p.Live, p.Final, p.Source, p.Ready = nil, nil, "", false
		p.Kept, p.Asked = kept, t0.Add(at)
	}
}

// TestARestartedOperator: a restarted operator does not judge pods that it has not been able to scrape yet, but it
// waits only for a limited time.
func TestARestartedOperator(t *testing.T) {
	overdue, over := 100*time.Second, 201*time.Second
	both := func(f func(*Pod)) change {
		return func(o *Observed) { f(&o.Pods[0]); f(&o.Pods[1]) }
	}
	queue := func(o *Observed) { o.Run.Status.Queue = &v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses} }
	mute := func(f func(*Pod)) func(*Pod) {
		return func(p *Pod) { f(p); p.Unreachable = true }
	}
	tests := map[string]struct {
		seen Observed
		at   time.Duration
		want string
	}{
		"queued":                          {scenario(running, queue, both(asked(0, ""))), overdue, ""},
		"preloading before":               {scenario(running, both(asked(0, results.StagePreloading))), overdue, ""},
		"waiting before":                  {scenario(running, both(asked(0, results.StageWaiting))), overdue, ""},
		"preloading, cannot be scraped":   {scenario(running, both(mute(asked(0, results.StagePreloading)))), overdue, ""},
		"nothing known yet":               {scenario(running, both(asked(overdue, ""))), overdue, ""},
		"nothing known, a moment before":  {scenario(running, both(asked(overdue, ""))), overdue + firstScrapeGrace - 1, ""},
		"nothing known still":             {scenario(running, both(asked(overdue, ""))), overdue + firstScrapeGrace, v1alpha1.ReasonPodsNotReady},
		"cannot be scraped":               {scenario(running, both(mute(asked(overdue, "")))), overdue, v1alpha1.ReasonPodsNotReady},
		"connecting before":               {scenario(running, both(asked(0, results.StageConnecting))), overdue, v1alpha1.ReasonPodsNotReady},
		"another has no node":             {scenario(stuck(v1alpha1.ReasonUnschedulable, t0), pod(0, asked(overdue, ""))), overdue, v1alpha1.ReasonUnschedulable},
		"time over, nothing known yet":    {scenario(startSet(t0), both(asked(over, ""))), over, ""},
		"time over, a moment before":      {scenario(startSet(t0), both(asked(over, results.StageCleaning))), over + firstScrapeGrace - 1, ""},
		"time over, nothing known still":  {scenario(startSet(t0), both(asked(over, ""))), over + firstScrapeGrace, v1alpha1.ReasonTimedOut},
		"time over, cannot be scraped":    {scenario(startSet(t0), both(mute(asked(over, "")))), over, v1alpha1.ReasonTimedOut},
		"time over, cannot be asked":      {scenario(startSet(t0)), over, v1alpha1.ReasonTimedOut},
		"time over before the start":      {scenario(running, both(asked(over, results.StagePreloading))), over, v1alpha1.ReasonTimedOut},
		"time over, one done, one silent": {scenario(done, pod(1, asked(over, ""))), over, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(tc.at))
			got := ""
			if d.Ending != nil {
				got = d.Ending.Reason
			}
			if got != tc.want {
				t.Errorf("wanted the run to end as %q, found %+v", tc.want, d.Ending)
			}
			if d.Finish == nil && (d.Requeue == 0 || d.Requeue > heartbeat) {
				t.Errorf("wanted to be asked again within %s, found %s", heartbeat, d.Requeue)
			}
		})
	}
}

// TestCompletedAfterTheTimeout: when the pods report complete numbers, the run is Completed, even long after its
// timeout.
func TestCompletedAfterTheTimeout(t *testing.T) {
	if d := Decide(scenario(done), t0.Add(time.Hour)); d.Finish == nil || d.Finish.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("wanted the run to be Completed, found %+v", d)
	}
}

// TestPodsThatRanOutOfTime: the pods have ended by their own timers while the operator was away. The reason is then not
// an eviction; if another cause of the delay is known, it is reported instead.
func TestPodsThatRanOutOfTime(t *testing.T) {
	const words = "200 s passed"
	late := func(stage results.Stage, stopped bool) func(*Pod) {
		return func(p *Pod) {
			p.State, p.Exit = PodEnded, "ended with exit code 1 (Error)"
			p.Choose(nil, &results.Snapshot{Stage: stage, Stopped: stopped, Failure: &results.Failure{Reason: results.FailureTimedOut, Message: words}})
		}
	}
	inTime := late(results.StageDone, true)
	tls := func(p *Pod) {
		p.State = PodEnded
		p.Choose(nil, &results.Snapshot{Stage: results.StageDone, Failure: &results.Failure{Reason: results.FailureTLSFailed, Message: "no"}})
	}
	crashed := func(p *Pod) { killed(p) }
	tests := map[string]struct {
		seen      Observed
		want      string
		wantWords string
	}{
		"both":                      {scenario(startSet(t0), pod(0, inTime), pod(1, inTime)), v1alpha1.ReasonTimedOut, words},
		"both, before the start":    {scenario(running, pod(0, inTime), pod(1, inTime)), v1alpha1.ReasonTimedOut, words},
		"one, the other done":       {scenario(done, pod(1, inTime)), v1alpha1.ReasonTimedOut, words},
		"continues without lost":    {scenario(done, onPodLostContinue, pod(1, inTime)), v1alpha1.ReasonTimedOut, words},
		"one still cleans":          {scenario(startSet(t0), pod(0, gave(results.StageDone)), pod(1, late(results.StageCleaning, true))), v1alpha1.ReasonTimedOut, words},
		"since another failed":      {scenario(running, pod(0, inTime), pod(1, tls)), v1alpha1.ReasonTLSFailed, "no"},
		"since another crashed":     {scenario(startSet(t0), pod(0, inTime), pod(1, crashed)), v1alpha1.ReasonPodFailed, "OOMKilled"},
		"since another had no node": {scenario(stuck(v1alpha1.ReasonUnschedulable, t0), pod(0, inTime)), v1alpha1.ReasonUnschedulable, "because"},
		"waiting for the lock":      {scenario(running, pod(0, inTime), func(o *Observed) { o.Run.Status.Queue = &v1alpha1.QueueStatus{} }), v1alpha1.ReasonTimedOut, words},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(201*time.Second))
			if d.Ending == nil || d.Ending.Reason != tc.want || !strings.Contains(d.Ending.Message, tc.wantWords) {
				t.Errorf("wanted the run to end as %s with %q, found %+v", tc.want, tc.wantWords, d.Ending)
			}
		})
	}
}
