package verdict

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func changed(n int) func(*results.Summary) {
	return func(s *results.Summary) {
		s.Target = &results.Target{}
		for range n {
			s.Target.Changes = append(s.Target.Changes, results.Change{Aspect: results.AspectLeader, Detail: "from a to b", At: runtest.WindowStart})
		}
	}
}

func unobserved(why string, aspects ...results.Aspect) func(*results.Summary) {
	return func(s *results.Summary) {
		s.Target = &results.Target{Unobserved: map[results.Aspect]string{}}
		for _, a := range aspects {
			s.Target.Unobserved[a] = why
		}
	}
}

// TestMissingMembers: a run that should have loaded members that were not ready cannot pass.
func TestMissingMembers(t *testing.T) {
	for name, tc := range map[string]struct {
		target   v1alpha1.Target
		notReady int32
		want     string
	}{
		"all were ready":            {v1alpha1.Target{}, 0, v1alpha1.ReasonObjectivesMet},
		"one was not":               {v1alpha1.Target{}, 1, v1alpha1.ReasonMembersMissing},
		"one was not, and leads":    {v1alpha1.Target{Members: spec.MembersFollowers}, 1, v1alpha1.ReasonMembersMissing},
		"only the leader gets load": {v1alpha1.Target{Members: spec.MembersLeader}, 1, v1alpha1.ReasonObjectivesMet},
		"the run may skip it":       {v1alpha1.Target{UnreachableMembers: spec.UnreachableSkip}, 1, v1alpha1.ReasonObjectivesMet},
	} {
		c := judgedWithDoubt(t, true, func(b *v1alpha1.EtcdBenchmark) {
			b.Spec.Target, b.Status.Target = tc.target, &v1alpha1.TargetStatus{Endpoints: []string{"a:1", "b:1"}, NotReady: tc.notReady}
		}, nil)
		if c.Reason != tc.want || tc.notReady > 0 && tc.want == v1alpha1.ReasonMembersMissing && !strings.Contains(c.Message, "2 members, and 1 more") {
			t.Errorf("%s: got %s: %s", name, c.Reason, c.Message)
		}
	}
}

func clockOff(offsets ...time.Duration) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) {
		for i, d := range offsets {
			b.Status.Pods = append(b.Status.Pods, v1alpha1.PodStatus{Index: int32(i), ClockOffsetMicroseconds: new(d.Microseconds())})
		}
		b.Status.Pods = append(b.Status.Pods, v1alpha1.PodStatus{Index: 99})
	}
}

func apart(d time.Duration) func(*results.Summary) {
	return func(s *results.Summary) { s.StartSkew = d }
}

func compactedAfter(d time.Duration) func(*results.Summary) {
	return func(s *results.Summary) { s.Watch.CompactedAfter = d }
}

func lastingFor(d time.Duration) func(*results.Summary) {
	return func(s *results.Summary) { s.Length = d }
}

// A run of one second whose numbers meet its objective, apart from the concern.
func TestRunConcerns(t *testing.T) {
	none := func(*results.Summary) {}
	tests := map[string]struct {
		clocks  func(*v1alpha1.EtcdBenchmark)
		changes []func(*results.Summary)
		reason  string
		part    string
	}{
		"none":                      {clockOff(), []func(*results.Summary){none}, v1alpha1.ReasonObjectivesMet, ""},
		"a target that is the same": {clockOff(), []func(*results.Summary){changed(0)}, v1alpha1.ReasonObjectivesMet, ""},
		"a change":                  {clockOff(), []func(*results.Summary){changed(1)}, v1alpha1.ReasonTargetChanged, "Leader: from a to b"},
		"three changes":             {clockOff(), []func(*results.Summary){changed(3)}, v1alpha1.ReasonTargetChanged, "3 times"},
		"a target unobserved":       {clockOff(), []func(*results.Summary){unobserved("no answer", results.AspectMembers)}, v1alpha1.ReasonTargetNotObserved, "Members: no answer"},
		"all of it unobserved":      {clockOff(), []func(*results.Summary){unobserved("no answer", results.AspectVersion, results.AspectLeader)}, v1alpha1.ReasonTargetNotObserved, "Leader: no answer"},
		"a history that is gone":    {clockOff(), []func(*results.Summary){compactedAfter(2 * time.Second)}, v1alpha1.ReasonHistoryCompacted, "2s after"},
		"nearly together":           {clockOff(), []func(*results.Summary){apart(500 * time.Millisecond)}, v1alpha1.ReasonObjectivesMet, ""},
		"apart":                     {clockOff(), []func(*results.Summary){apart(501 * time.Millisecond)}, v1alpha1.ReasonStartsApart, "501ms"},
		"apart, for a minute":       {clockOff(), []func(*results.Summary){apart(3 * time.Second), lastingFor(time.Minute)}, v1alpha1.ReasonObjectivesMet, ""},
		"too far for a minute":      {clockOff(), []func(*results.Summary){apart(3001 * time.Millisecond), lastingFor(time.Minute)}, v1alpha1.ReasonStartsApart, "3001ms"},
		"a clock nearly right":      {clockOff(0, -500*time.Millisecond), []func(*results.Summary){none}, v1alpha1.ReasonObjectivesMet, ""},
		"a clock that is ahead":     {clockOff(0, time.Minute), []func(*results.Summary){none}, v1alpha1.ReasonClockOffset, "client pod 1"},
		"a clock that is behind":    {clockOff(-time.Minute), []func(*results.Summary){none}, v1alpha1.ReasonClockOffset, "60000ms"},
		"a clock off, for an hour":  {clockOff(0, 5*time.Second), []func(*results.Summary){lastingFor(time.Hour)}, v1alpha1.ReasonObjectivesMet, ""},
		"too far for any time":      {clockOff(0, -5001*time.Millisecond), []func(*results.Summary){lastingFor(time.Hour)}, v1alpha1.ReasonClockOffset, "wanted at most 5000ms"},
		"far for a minute":          {clockOff(0, 3001*time.Millisecond), []func(*results.Summary){lastingFor(time.Minute)}, v1alpha1.ReasonClockOffset, "wanted at most 3000ms"},
		"apart, for an hour":        {clockOff(), []func(*results.Summary){apart(time.Minute), lastingFor(time.Hour)}, v1alpha1.ReasonObjectivesMet, ""},
		"clocks, and so starts":     {clockOff(0, time.Minute), []func(*results.Summary){apart(time.Minute)}, v1alpha1.ReasonClockOffset, "started 60000ms after"},
		"two concerns":              {clockOff(time.Minute), []func(*results.Summary){changed(1)}, v1alpha1.ReasonTargetChanged, "client pod 0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, meets := range []bool{true, false} {
				c := judgedWithDoubt(t, meets, tc.clocks, tc.changes)
				wanted := metav1.ConditionUnknown
				switch {
				case !meets:
					wanted = metav1.ConditionFalse
				case tc.reason == v1alpha1.ReasonObjectivesMet:
					wanted = metav1.ConditionTrue
				}
				if c.Status != wanted || meets && c.Reason != tc.reason || !meets && c.Reason != v1alpha1.ReasonObjectivesMissed {
					t.Errorf("met %v: got %s/%s, wanted %s/%s", meets, c.Status, c.Reason, wanted, tc.reason)
				}
				if !strings.Contains(c.Message, tc.part) {
					t.Errorf("met %v: message %q says nothing of %q", meets, c.Message, tc.part)
				}
			}
		})
	}
}

func judgedWithDoubt(t *testing.T, meets bool, clocks func(*v1alpha1.EtcdBenchmark), changes []func(*results.Summary)) *metav1.Condition {
	t.Helper()
	objective := runtest.MaxLatency(spec.StatisticMax, 600_000_000)
	if !meets {
		objective = runtest.MaxLatency(spec.StatisticMax, 1)
	}
	summary := results.Summarize([]*results.Snapshot{runtest.Measured(0, 50), runtest.Measured(1, 50)})
	for _, change := range changes {
		change(&summary)
	}
	_, c := Judge(runtest.Puts(runtest.Objectives(objective), clocks), &summary, v1alpha1.ReasonCompleted)
	return c
}
