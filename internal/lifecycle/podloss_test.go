package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func onPodLostContinue(o *Observed) { o.Run.Spec.OnPodLost = v1alpha1.PodLossContinue }

func watched(o *Observed) {
	o.Run.Spec.Guard = &spec.Guard{StopOn: &spec.StopRules{LeaderChange: true}}
}

func disturbed(o *Observed) {
	o.Run.Spec.Disturbances = []spec.Disturbance{{Type: spec.DisturbanceCompact, EverySeconds: 5}}
}

func killed(p *Pod) {
	p.State, p.Exit, p.Exited, p.Live, p.Final, p.Source = PodEnded, "ended with exit code 137 (OOMKilled)", true, nil, nil, ""
}

// left is a pod whose termination message is from this stage.
func left(stage results.Stage) func(*Pod) {
	return func(p *Pod) { p.Final = &results.Snapshot{Stage: stage} }
}

// killedDeleting is a pod that was killed while it deleted its keys, after a scrape that had all numbers.
func killedDeleting(p *Pod) {
	live := &results.Snapshot{Stage: results.StageCleaning, Cleaning: results.CleaningKeysLeft}
	p.State, p.Exit, p.Exited, p.Final = PodEnded, "ended with exit code 137 (Error)", true, nil
	p.Choose(live, nil)
}

func evicted(p *Pod) {
	p.Choose(&results.Snapshot{Stage: results.StageDone, Stopped: true, Cleaning: results.CleaningKeysDeleted}, nil)
}

func gave(stage results.Stage) func(*Pod) {
	return func(p *Pod) { p.Choose(&results.Snapshot{Stage: stage, Cleaning: results.CleaningKeysDeleted}, nil) }
}

func TestAPodThatIsLost(t *testing.T) {
	soon := t0.Add(10 * time.Second)
	failed := func(p *Pod) {
		p.Choose(&results.Snapshot{Stage: results.StageDone, Failure: &results.Failure{Reason: results.FailureTLSFailed, Message: "expired"}}, nil)
	}
	diedDeleting := func(p *Pod) {
		p.State, p.Exit = PodEnded, "ended"
		p.Choose(&results.Snapshot{Stage: results.StageCleaning}, &results.Snapshot{Stage: results.StageDraining})
	}
	abandoned := func(p *Pod) { p.DeleteBy = t0.Add(-abandonedAfter) }
	tests := map[string]struct {
		seen Observed
		// ends is the reason of Ending or of Finish, empty if the run continues.
		ends string
	}{
		"fail":                      {scenario(startSet(t0), pod(1, killed)), v1alpha1.ReasonPodFailed},
		"continue":                  {scenario(startSet(t0), onPodLostContinue, pod(1, killed)), ""},
		"evicted":                   {scenario(startSet(t0), onPodLostContinue, pod(1, evicted)), ""},
		"gone":                      {scenario(startSet(t0), onPodLostContinue, pod(1, func(p *Pod) { p.State = PodGone })), ""},
		"on a node that is silent":  {scenario(startSet(t0), onPodLostContinue, pod(1, abandoned)), ""},
		"before the start":          {scenario(running, onPodLostContinue, pod(1, killed)), v1alpha1.ReasonPodFailed},
		"it reports why":            {scenario(startSet(t0), onPodLostContinue, pod(1, failed)), v1alpha1.ReasonTLSFailed},
		"its guard has fired":       {scenario(startSet(t0), onPodLostContinue, pod(1, fired), pod(0, gave(results.StageDone))), v1alpha1.ReasonGuardStopped},
		"all of them":               {scenario(startSet(t0), onPodLostContinue, pod(0, killed), pod(1, evicted)), v1alpha1.ReasonPodFailed},
		"that observes":             {scenario(startSet(t0), onPodLostContinue, watched, pod(0, killed)), v1alpha1.ReasonPodFailed},
		"that observed to the end":  {scenario(startSet(t0), onPodLostContinue, watched, pod(0, gave(results.StageCleaning)), pod(0, func(p *Pod) { p.State, p.Exit = PodEnded, "ended" })), ""},
		"that left a message":       {scenario(startSet(t0), onPodLostContinue, watched, pod(0, diedDeleting)), ""},
		"that does not observe":     {scenario(startSet(t0), onPodLostContinue, watched, pod(1, killed)), ""},
		"that disturbs":             {scenario(startSet(t0), onPodLostContinue, disturbed, pod(0, killed)), v1alpha1.ReasonPodFailed},
		"that disturbed to the end": {scenario(startSet(t0), onPodLostContinue, disturbed, pod(0, gave(results.StageCleaning)), pod(0, func(p *Pod) { p.State, p.Exit = PodEnded, "ended" })), ""},
		"that does not disturb":     {scenario(startSet(t0), onPodLostContinue, disturbed, pod(1, killed)), ""},
		"without observations":      {scenario(startSet(t0), onPodLostContinue, pod(0, killed)), ""},
		"the others did their part": {scenario(startSet(t0), onPodLostContinue, pod(1, killed), pod(0, gave(results.StageDone))), v1alpha1.ReasonPartlyCompleted},
		"one that waited for it":    {scenario(startSet(t0), onPodLostContinue, pod(1, killed), third(gave(results.StageDone)), pod(0, killed), pod(0, func(p *Pod) { p.Stop = true })), v1alpha1.ReasonPartlyCompleted},
		"since its Job was deleted": {scenario(startSet(t0), onPodLostContinue, pod(1, evicted), pod(0, gave(results.StageDone)), func(o *Observed) { o.Job = Job{} }), v1alpha1.ReasonJobDeleted},
		"stopped without it":        {scenario(startSet(t0), onPodLostContinue, pod(1, killed), func(o *Observed) { o.Run.Spec.Stop = true }), v1alpha1.ReasonStopped},
		"none was":                  {scenario(done, onPodLostContinue), v1alpha1.ReasonCompleted},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, soon)
			got := ""
			switch {
			case d.Finish != nil:
				got = d.Finish.Reason
			case d.Ending != nil:
				got = d.Ending.Reason
			}
			if got != tc.ends {
				t.Errorf("wanted it to end as %q, found %q: %+v", tc.ends, got, d)
			}
			if strings.Contains(acts(d), "stop") && tc.ends == "" {
				t.Errorf("a pod that lives was asked to stop: %s", acts(d))
			}
		})
	}
}

// third adds a pod like the first one, with a change.
func third(alter func(*Pod)) change {
	return func(o *Observed) {
		p := o.Pods[0]
		p.Index, p.Name = 2, "c"
		alter(&p)
		o.Pods = append(o.Pods, p)
	}
}

// Pods that have measured wait for a pod that can still release its keys. They do not wait for a pod that has died.
func TestPodsDoNotWaitForDeadPods(t *testing.T) {
	gone := func(p *Pod) { p.State, p.Live, p.Final = PodGone, nil, nil }
	cleaning := pod(0, gave(results.StageCleaning))
	tests := map[string]struct {
		seen Observed
		want bool
	}{
		"one that was killed":              {scenario(startSet(t0), onPodLostContinue, pod(1, killed), cleaning), true},
		"all others wait, too":             {scenario(startSet(t0), onPodLostContinue, pod(1, killed), cleaning, third(gave(results.StageCleaning))), true},
		"all others have ended":            {scenario(startSet(t0), onPodLostContinue, pod(1, killed), cleaning, third(gave(results.StageDone))), true},
		"while it measures itself":         {scenario(startSet(t0), onPodLostContinue, pod(1, killed), pod(0, gave(results.StageMeasuring))), false},
		"while another measures":           {scenario(startSet(t0), onPodLostContinue, pod(1, killed), cleaning, third(gave(results.StageMeasuring))), false},
		"one of two, and one is gone":      {scenario(startSet(t0), onPodLostContinue, pod(1, killed), cleaning, third(gone)), false},
		"one that is gone":                 {scenario(startSet(t0), onPodLostContinue, pod(1, gone), cleaning), false},
		"one on a node that is silent":     {scenario(startSet(t0), onPodLostContinue, pod(1, func(p *Pod) { p.DeleteBy = t0.Add(-abandonedAfter) }), cleaning), false},
		"one whose node does not confirm":  {scenario(startSet(t0), onPodLostContinue, pod(1, killed), pod(1, func(p *Pod) { p.Exited = false }), cleaning), false},
		"one that had left its numbers":    {scenario(startSet(t0), onPodLostContinue, pod(1, killed), pod(1, left(results.StageDraining)), cleaning), true},
		"one that has released its keys":   {scenario(startSet(t0), onPodLostContinue, pod(1, evicted), cleaning), false},
		"one that is killed, asked before": {scenario(startSet(t0), onPodLostContinue, pod(1, killed), cleaning, pod(0, func(p *Pod) { p.Stop = true })), false},
		"one that had measured everything": {scenario(startSet(t0), pod(1, gave(results.StageCleaning)), pod(1, killedDeleting), cleaning), true},
		"one that lives":                   {scenario(startSet(t0), onPodLostContinue, cleaning), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0.Add(10*time.Second))
			if got := strings.Contains(acts(d), "stop"); got != tc.want || d.Finish != nil || d.Ending != nil {
				t.Errorf("asked to stop: %v, wanted %v, and that the run continues; found %s, %+v and %+v", got, tc.want, acts(d), d.Finish, d.Ending)
			}
		})
	}
}

// A pod that was killed after it had measured everything is no loss: the run completes with all numbers, says so, and
// the cleanup Job deletes its keys.
func TestAPodThatIsKilledAfterItHasMeasured(t *testing.T) {
	for _, policy := range []v1alpha1.PodLossPolicy{v1alpha1.PodLossFail, v1alpha1.PodLossContinue} {
		o := scenario(startSet(t0), pod(0, gave(results.StageDone)), pod(1, killedDeleting))
		o.Run.Spec.OnPodLost = policy
		d := Decide(o, t0.Add(10*time.Second))
		if d.Finish == nil || d.Finish.Reason != v1alpha1.ReasonCompleted || !strings.Contains(d.Finish.Message, "exit code 137") {
			t.Errorf("%s: it finished with %+v, wanted Completed, and how the pod ended", policy, d.Finish)
		}
		if d.Cleaned == nil || d.Cleaned.Status != "Unknown" {
			t.Errorf("%s: condition Cleaned becomes %+v, wanted the keys looked after", policy, d.Cleaned)
		}
	}
}

// While other pods still load the target, client pod 0 checks the rules of the guard, also after its own requests.
func TestAWatchThatIsKilledIsALoss(t *testing.T) {
	for stage, want := range map[results.Stage]string{results.StageMeasuring: v1alpha1.ReasonPodFailed, results.StageCleaning: ""} {
		d := Decide(scenario(startSet(t0), watched, pod(0, killedDeleting), pod(1, gave(stage))), t0.Add(10*time.Second))
		got := ""
		if d.Ending != nil {
			got = d.Ending.Reason
		}
		if got != want {
			t.Errorf("with the other pod in %s it ends as %q, wanted %q", stage, got, want)
		}
	}
}

// A loss is reported while the run continues, and at its end.
func TestALossIsReported(t *testing.T) {
	soon := t0.Add(10 * time.Second)
	if d := Decide(scenario(startSet(t0), onPodLostContinue, pod(1, killed)), soon); !strings.Contains(d.Message, "Lost client pods: 1;") || !strings.Contains(d.Message, "OOMKilled") {
		t.Errorf("the message of the run is %q", d.Message)
	}
	d := Decide(scenario(startSet(t0), onPodLostContinue, pod(1, killed), pod(0, gave(results.StageDone))), soon)
	if !strings.Contains(d.Finish.Message, "OOMKilled") || !strings.Contains(d.Finish.Message, "1 of 2") || d.Cleaned.Status != "Unknown" {
		t.Errorf("it finished with %+v and %+v, wanted the loss, and its keys looked after", d.Finish, d.Cleaned)
	}
}

// The message reports missing observations exactly if client pod 0 is lost.
func TestTheLossOfObservationsIsReported(t *testing.T) {
	soon := t0.Add(10 * time.Second)
	tests := map[string]struct {
		seen Observed
		want bool
	}{
		"pod 0":                   {scenario(startSet(t0), onPodLostContinue, pod(0, killed)), true},
		"pod 0 after its window":  {scenario(startSet(t0), onPodLostContinue, pod(0, gave(results.StageCleaning)), pod(0, func(p *Pod) { p.State, p.Exit = PodEnded, "ended" })), false},
		"another":                 {scenario(startSet(t0), onPodLostContinue, pod(1, killed)), false},
		"pod 0, and all is ended": {scenario(startSet(t0), onPodLostContinue, pod(0, killed), pod(1, gave(results.StageDone))), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, soon)
			message := d.Message
			if d.Finish != nil {
				message = d.Finish.Message
			}
			if got := strings.Contains(message, missingObservations); got != tc.want {
				t.Errorf("wanted missing observations reported: %v, found %q", tc.want, message)
			}
		})
	}
}

// A long deletion of keys does not delay the end beyond the timeout.
func TestPartlyCompletedAtTheTimeout(t *testing.T) {
	o := scenario(startSet(t0), onPodLostContinue, pod(1, killed), pod(0, gave(results.StageCleaning)))
	if d := Decide(o, t0.Add(200*time.Second)); d.Finish == nil || d.Finish.Reason != v1alpha1.ReasonPartlyCompleted {
		t.Errorf("wanted PartlyCompleted, found %+v", d)
	}
}
