package benchmark

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func ended(reason string, s *v1alpha1.Summary) *v1alpha1.EtcdBenchmark {
	b := runtest.Puts()
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason}}
	b.Status.Summary = s
	return b
}

func TestEndingMessage(t *testing.T) {
	const nothing, some = "Why. Nothing was measured: the load had not begun.", "Why. The result is what was measured until then."
	const unreported = "Why. No client pod reported a measurement."
	cases := map[string]struct {
		reason  string
		summary *v1alpha1.Summary
		begun   bool
		want    string
	}{
		"stopped before the start":   {v1alpha1.ReasonStopped, nil, false, nothing},
		"stopped without reports":    {v1alpha1.ReasonStopped, nil, true, unreported},
		"stopped in the window":      {v1alpha1.ReasonStopped, &v1alpha1.Summary{}, true, some},
		"timed out before the start": {v1alpha1.ReasonTimedOut, nil, false, nothing},
		"guarded before the start":   {v1alpha1.ReasonGuardStopped, nil, false, nothing},
		"guarded in the window":      {v1alpha1.ReasonGuardStopped, &v1alpha1.Summary{}, true, some},
		"failed":                     {v1alpha1.ReasonTLSFailed, nil, true, "Why."},
		"completed":                  {v1alpha1.ReasonCompleted, &v1alpha1.Summary{}, true, "Why."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := ended(tc.reason, tc.summary)
			if tc.begun {
				b.Status.StartAt = &metav1.MicroTime{Time: runtest.WindowStart}
			}
			if got := EndingMessage(b, tc.reason, "Why."); got != tc.want {
				t.Errorf("wanted %q, got %q", tc.want, got)
			}
		})
	}
}

// A run that failed says first which of its own members was lost. One that the user has stopped does not.
func TestEndingMessageHasALostMember(t *testing.T) {
	for reason, want := range map[string]string{
		v1alpha1.ReasonTargetLost: "Member 1 (member-1) ended (its log ends with: no space left on device). Why.",
		v1alpha1.ReasonCompleted:  "Why.",
	} {
		b := ended(reason, nil)
		b.Status.Ephemeral = &v1alpha1.EphemeralStatus{Pods: []v1alpha1.MemberPod{{Name: "member-0"}, {Name: "member-1", Lost: "ended (its log ends with: no space left on device)"}}}
		if got := EndingMessage(b, reason, "Why."); got != want {
			t.Errorf("%s: wanted %q, got %q", reason, want, got)
		}
	}
}

func TestIsPartialAndPercent(t *testing.T) {
	half := &v1alpha1.Summary{Partial: true, MeasuredRequests: 500, DurationMicroseconds: 2_000_000}
	goesOn := runtest.Puts()
	goesOn.Status.Progress = &v1alpha1.Progress{Percent: 30}
	timed, staged := ended(v1alpha1.ReasonStopped, half), ended(v1alpha1.ReasonStopped, half)
	forSeconds(4)(timed)
	staged.Spec.Load.Requests = nil
	staged.Spec.Load.Rate = &spec.Rate{Stages: []spec.RateStage{{PerSecond: 1, Seconds: 3}, {PerSecond: 2, Seconds: 5}}}
	cases := map[string]struct {
		run         *v1alpha1.EtcdBenchmark
		wantPartial bool
		wantPercent int32
	}{
		"not begun":                  {runtest.Puts(), false, 0},
		"goes on":                    {goesOn, false, 30},
		"completed":                  {ended(v1alpha1.ReasonCompleted, &v1alpha1.Summary{MeasuredRequests: 1000}), false, 100},
		"stopped, half the requests": {ended(v1alpha1.ReasonStopped, half), true, 50},
		"stopped, half the time":     {timed, true, 50},
		"stopped, part of stages":    {staged, true, 25},
		"stopped before the window":  {ended(v1alpha1.ReasonStopped, nil), true, 0},
		"could not run":              {ended(v1alpha1.ReasonTLSFailed, nil), true, 0},
		"partly completed":           {ended(v1alpha1.ReasonPartlyCompleted, half), true, 50},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsPartial(tc.run); got != tc.wantPartial {
				t.Errorf("partial %v, wanted %v", got, tc.wantPartial)
			}
			if got := Percent(tc.run); got != tc.wantPercent {
				t.Errorf("%d %%, wanted %d %%", got, tc.wantPercent)
			}
		})
	}
}
