package report

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

func endedAs(reason string, passed metav1.ConditionStatus, s *v1alpha1.Summary) *v1alpha1.EtcdBenchmark {
	b := runtest.Puts()
	b.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason}}
	if passed != "" {
		b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: passed})
		b.Status.Objectives = []v1alpha1.ObjectiveStatus{{Name: "p99", Result: map[metav1.ConditionStatus]v1alpha1.ObjectiveResult{
			metav1.ConditionTrue: v1alpha1.ObjectiveMet, metav1.ConditionFalse: v1alpha1.ObjectiveMissed, metav1.ConditionUnknown: v1alpha1.ObjectiveUnknown,
		}[passed]}}
	}
	b.Status.Summary = s
	return b
}

// withKeysLeft sets that a run left keys in its target.
func withKeysLeft(b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	b.Status.Conditions = append(b.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonKeysLeft})
	return b
}

// The page and JUnit say the same as the exit status.
func TestRunsLookLikeTheirExitStatus(t *testing.T) {
	valid := &v1alpha1.Validity{Verdict: v1alpha1.ValidityValid}
	good := &v1alpha1.Summary{MeasuredRequests: 10, Validity: valid}
	for name, tc := range map[string]struct {
		run       *v1alpha1.EtcdBenchmark
		state     State
		completed outcome
	}{
		"completed":              {endedAs(v1alpha1.ReasonCompleted, "", good), None, passed},
		"met":                    {endedAs(v1alpha1.ReasonCompleted, metav1.ConditionTrue, good), Good, passed},
		"missed":                 {endedAs(v1alpha1.ReasonCompleted, metav1.ConditionFalse, good), Bad, passed},
		"not judged":             {endedAs(v1alpha1.ReasonCompleted, metav1.ConditionUnknown, good), Open, skipped},
		"all failed":             {endedAs(v1alpha1.ReasonCompleted, "", &v1alpha1.Summary{MeasuredRequests: 10, FailedRequests: 10, Validity: valid}), Bad, broken},
		"not known if valid":     {endedAs(v1alpha1.ReasonCompleted, "", &v1alpha1.Summary{MeasuredRequests: 10}), Open, skipped},
		"a concern":              {endedAs(v1alpha1.ReasonCompleted, "", &v1alpha1.Summary{MeasuredRequests: 10, Validity: valid, Concerns: []string{"StartsApart"}}), Open, skipped},
		"guard, missed":          {endedAs(v1alpha1.ReasonGuardStopped, metav1.ConditionFalse, good), Bad, broken},
		"stopped, missed":        {endedAs(v1alpha1.ReasonStopped, metav1.ConditionFalse, good), Open, skipped},
		"client pod lost":        {endedAs(v1alpha1.ReasonPartlyCompleted, "", good), Open, skipped},
		"client pod lost,missed": {endedAs(v1alpha1.ReasonPartlyCompleted, metav1.ConditionFalse, good), Bad, passed},
		"keys left":              {withKeysLeft(endedAs(v1alpha1.ReasonCompleted, metav1.ConditionTrue, good)), Bad, broken},
		"keys left, missed":      {withKeysLeft(endedAs(v1alpha1.ReasonCompleted, metav1.ConditionFalse, good)), Bad, passed},
		"unfinished":             {runtest.Puts(), Open, skipped},
	} {
		t.Run(name, func(t *testing.T) {
			state, words, _ := verdictOfRun(tc.run)
			if state != tc.state {
				t.Errorf("page: found %s (%s), wanted %s", state, words, tc.state)
			}
			if got := outcomeOf(runCases(tc.run)[0]); got != tc.completed {
				t.Errorf("JUnit: found %v, wanted %v", got, tc.completed)
			}
			ending := verdict.EndingOf(tc.run)
			if bad := ending == verdict.Missed || ending == verdict.Failed || ending == verdict.KeysLeft; bad != (state == Bad) {
				t.Errorf("the page is %s, and the ending %s", state, ending)
			}
		})
	}
}

func TestJUnitSaysWhyARunWasNotJudged(t *testing.T) {
	run := endedAs(v1alpha1.ReasonCompleted, metav1.ConditionUnknown, &v1alpha1.Summary{MeasuredRequests: 10})
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	passed.Reason, passed.Message = v1alpha1.ReasonClientBound, "The load generator was a limit."
	if c := runCases(run)[0]; c.Skipped == nil || c.Skipped.Message != passed.Reason+": "+passed.Message {
		t.Errorf("wanted the reason of the condition Passed, found %+v", c.Skipped)
	}
}

func outcomeOf(c junitCase) outcome {
	switch {
	case c.Failure != nil:
		return failed
	case c.Error != nil:
		return broken
	case c.Skipped != nil:
		return skipped
	}
	return passed
}

func TestSuitesLookLikeTheirExitStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		passed    metav1.ConditionStatus
		ending    verdict.Ending
		state     State
		completed outcome
	}{
		"a cell was refused":   {v1alpha1.ReasonInvalidCell, "", verdict.Failed, Bad, broken},
		"stopped, one missed":  {v1alpha1.ReasonStopped, metav1.ConditionFalse, verdict.Open, Open, skipped},
		"missed":               {v1alpha1.ReasonCompleted, metav1.ConditionFalse, verdict.Missed, Bad, passed},
		"not judged":           {v1alpha1.ReasonCompleted, metav1.ConditionUnknown, verdict.Open, Open, skipped},
		"passed":               {v1alpha1.ReasonCompleted, metav1.ConditionTrue, verdict.Done, Good, passed},
		"completed":            {v1alpha1.ReasonCompleted, "", verdict.Done, None, passed},
		"has not finished yet": {"", "", verdict.Unfinished, Open, skipped},
	} {
		t.Run(name, func(t *testing.T) {
			s := &v1alpha1.EtcdBenchmarkSuite{}
			if tc.reason != "" {
				s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: tc.reason})
			}
			if tc.passed != "" {
				s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: tc.passed})
			}
			if got := suite.EndingOf(s); got != tc.ending {
				t.Errorf("found the ending %s, wanted %s", got, tc.ending)
			}
			if state, words, _ := verdictOfSuite(s); state != tc.state {
				t.Errorf("page: found %s (%s), wanted %s", state, words, tc.state)
			}
			if got := outcomeOf(suiteCases(s)[0]); got != tc.completed {
				t.Errorf("JUnit: found %v, wanted %v", got, tc.completed)
			}
		})
	}
}

// Only what happened and is known to be good passes.
func TestCasesOfRunsOfASuite(t *testing.T) {
	s := compared(t, 3, 1).Suite
	works := []v1alpha1.SuiteOperation{{Succeeded: 1}}
	first := v1alpha1.SuiteResult{Name: "r", Cell: "c", Round: 1, Reason: v1alpha1.ReasonCompleted, Operations: works}
	with := func(change func(*v1alpha1.SuiteResult)) v1alpha1.SuiteResult {
		r := first
		change(&r)
		return r
	}
	failedRun := with(func(r *v1alpha1.SuiteResult) { r.Reason, r.Invalid = v1alpha1.ReasonPodFailed, "a pod failed" })
	again := with(func(r *v1alpha1.SuiteResult) { r.Name = "again" })
	for name, tc := range map[string]struct {
		r    v1alpha1.SuiteResult
		more []v1alpha1.SuiteResult
		want outcome
	}{
		"without objectives":      {first, nil, passed},
		"invalid":                 {with(func(r *v1alpha1.SuiteResult) { r.Invalid = "client bound" }), nil, skipped},
		"stopped":                 {with(func(r *v1alpha1.SuiteResult) { r.Reason = v1alpha1.ReasonStopped }), nil, skipped},
		"failed":                  {failedRun, nil, broken},
		"failed, then a good one": {failedRun, []v1alpha1.SuiteResult{again}, skipped},
		"missed":                  {with(func(r *v1alpha1.SuiteResult) { r.Passed = metav1.ConditionFalse }), nil, failed},
		"no verdict":              {with(func(r *v1alpha1.SuiteResult) { r.Passed = metav1.ConditionUnknown }), nil, skipped},
	} {
		s.Status.Results = append([]v1alpha1.SuiteResult{tc.r}, tc.more...)
		if got := outcomeOf(resultCase(s, tc.r)); got != tc.want {
			t.Errorf("%s: found %v, wanted %v", name, got, tc.want)
		}
	}
	s.Status.Results, s.Status.Comparisons = nil, []v1alpha1.SuiteComparison{{Cell: "c", Comparison: v1alpha1.Comparison{Verdict: "New"}}}
	s.Status.Capacities = []v1alpha1.SuiteCapacity{{Cell: "c", State: "New"}}
	for _, c := range suiteCases(s)[1:] {
		if outcomeOf(c) != skipped {
			t.Errorf("a verdict that is not known: found %+v", c)
		}
	}
}
