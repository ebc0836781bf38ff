package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

func TestStatusOfRun(t *testing.T) {
	cases := map[string]struct {
		reason string
		passed metav1.ConditionStatus
		want   int
	}{
		"completed without objectives": {v1alpha1.ReasonCompleted, "", 0},
		"completed and passed":         {v1alpha1.ReasonCompleted, metav1.ConditionTrue, 0},
		"completed and missed":         {v1alpha1.ReasonCompleted, metav1.ConditionFalse, 1},
		"completed and not judged":     {v1alpha1.ReasonCompleted, metav1.ConditionUnknown, 3},
		"stopped without objectives":   {v1alpha1.ReasonStopped, "", 3},
		"stopped and missed":           {v1alpha1.ReasonStopped, metav1.ConditionFalse, 3},
		"stopped and not judged":       {v1alpha1.ReasonStopped, metav1.ConditionUnknown, 3},
		"partly completed":             {v1alpha1.ReasonPartlyCompleted, "", 3},
		"partly, and not judged":       {v1alpha1.ReasonPartlyCompleted, metav1.ConditionUnknown, 3},
		"partly, and missed":           {v1alpha1.ReasonPartlyCompleted, metav1.ConditionFalse, 1},
		"ended by the guard":           {v1alpha1.ReasonGuardStopped, metav1.ConditionUnknown, 2},
		"timed out":                    {v1alpha1.ReasonTimedOut, metav1.ConditionUnknown, 2},
		"failed, and missed":           {v1alpha1.ReasonPodFailed, metav1.ConditionFalse, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := &v1alpha1.EtcdBenchmark{}
			run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: tc.reason}}
			if tc.passed != "" {
				run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: tc.passed})
			}
			if got := statusOfRun(run); got != tc.want {
				t.Errorf("wanted %d, got %d", tc.want, got)
			}
		})
	}
	if got := statusOfRun(&v1alpha1.EtcdBenchmark{}); got != exitFailed {
		t.Errorf("a run that has not finished: wanted %d, got %d", exitFailed, got)
	}
}

// Keys that are left in a target are no success, and the command says why they are left.
func TestStatusOfARunThatLeftKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		passed, cleaned metav1.ConditionStatus
		want            int
	}{
		"keys left":             {"", metav1.ConditionFalse, 2},
		"keys left, passed":     {metav1.ConditionTrue, metav1.ConditionFalse, 2},
		"keys left, missed":     {metav1.ConditionFalse, metav1.ConditionFalse, 1},
		"keys left, not judged": {metav1.ConditionUnknown, metav1.ConditionFalse, 3},
		"not known yet":         {"", metav1.ConditionUnknown, 0},
		"no keys left":          {"", metav1.ConditionTrue, 0},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := []metav1.Condition{
				{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted},
				{Type: v1alpha1.ConditionCleaned, Status: tc.cleaned, Reason: v1alpha1.ReasonKeysLeft, Message: "no quorum"},
			}
			if tc.passed != "" {
				conditions = append(conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: tc.passed, Reason: "a reason"})
			}
			run, s := &v1alpha1.EtcdBenchmark{}, &v1alpha1.EtcdBenchmarkSuite{}
			run.Status.Conditions, s.Status.Conditions = conditions, conditions
			if ofRun, ofSuite := statusOfRun(run), statusOfSuite(s); ofRun != tc.want || ofSuite != tc.want {
				t.Errorf("got %d of a run and %d of a suite, wanted %d", ofRun, ofSuite, tc.want)
			}
			for _, err := range []error{why(run, tc.want), whySuite(s, tc.want)} {
				if tc.want == exitFailed && !strings.Contains(err.Error(), "no quorum") {
					t.Errorf("got %q, wanted the reason", err)
				}
			}
		})
	}
}

func TestDoubtOfARunWithoutObjectives(t *testing.T) {
	valid := &v1alpha1.Validity{Verdict: v1alpha1.ValidityValid}
	for name, tc := range map[string]struct {
		status v1alpha1.EtcdBenchmarkStatus
		want   string
	}{
		"none":            {v1alpha1.EtcdBenchmarkStatus{Summary: &v1alpha1.Summary{Validity: valid}}, ""},
		"client bound":    {v1alpha1.EtcdBenchmarkStatus{Summary: &v1alpha1.Summary{Validity: &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound}}}, "load generator was a limit"},
		"client not read": {v1alpha1.EtcdBenchmarkStatus{Summary: &v1alpha1.Summary{Validity: &v1alpha1.Validity{Verdict: v1alpha1.ValidityUnknown}}}, "not known"},
		"saturated":       {v1alpha1.EtcdBenchmarkStatus{Summary: &v1alpha1.Summary{Validity: valid, Saturated: &v1alpha1.Saturation{}}}, "keep up"},
		"a concern":       {v1alpha1.EtcdBenchmarkStatus{Summary: &v1alpha1.Summary{Validity: valid, Concerns: []string{v1alpha1.ReasonStartsApart}}}, v1alpha1.ReasonStartsApart},
		"a lost member":   {v1alpha1.EtcdBenchmarkStatus{Summary: &v1alpha1.Summary{}, Ephemeral: &v1alpha1.EphemeralStatus{Pods: []v1alpha1.MemberPod{{Name: "m", Lost: "ended (its disk is full)"}}}}, "Member 0 (m) ended (its disk is full)"},
		"with objectives": {v1alpha1.EtcdBenchmarkStatus{Summary: &v1alpha1.Summary{Validity: valid, Saturated: &v1alpha1.Saturation{}}, Objectives: make([]v1alpha1.ObjectiveStatus, 1)}, ""},
		"no summary":      {v1alpha1.EtcdBenchmarkStatus{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdict.DoubtOf(&v1alpha1.EtcdBenchmark{Status: tc.status}); !strings.Contains(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("got %q, wanted %q in it", got, tc.want)
			}
		})
	}
}

func TestStatusOfRunWithFailures(t *testing.T) {
	cases := map[string]struct {
		summary v1alpha1.Summary
		want    int
	}{
		"some failed":              {v1alpha1.Summary{MeasuredRequests: 10, FailedRequests: 9}, 0},
		"all failed":               {v1alpha1.Summary{MeasuredRequests: 10, FailedRequests: 10}, 2},
		"all failed or unanswered": {v1alpha1.Summary{MeasuredRequests: 10, FailedRequests: 6, CensoredRequests: 4}, 2},
		"nothing measured":         {v1alpha1.Summary{}, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			run := &v1alpha1.EtcdBenchmark{}
			run.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}}
			run.Status.Summary = &tc.summary
			if got := statusOfRun(run); got != tc.want {
				t.Errorf("wanted %d, got %d", tc.want, got)
			}
		})
	}
}

func TestStrictDoubtsASuite(t *testing.T) {
	s := &v1alpha1.EtcdBenchmarkSuite{}
	s.Spec.Rounds = 1
	s.Spec.Targets, s.Spec.Loads = []v1alpha1.SuiteTarget{{Name: "one"}}, []v1alpha1.SuiteLoad{{Name: "one"}}
	s.Spec.Workloads = []v1alpha1.SuiteWorkload{{Name: "put"}}
	s.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted}}
	s.Status.Results = []v1alpha1.SuiteResult{{
		Cell: suite.Cells(s)[0].Name, Round: 1, Reason: v1alpha1.ReasonCompleted, Invalid: "the load generator was a limit",
		Operations: []v1alpha1.SuiteOperation{{Operation: spec.OperationPut, Succeeded: 1}},
	}}
	outputs, err := parseDestinations([]string{"yaml"}, forms)
	if err != nil {
		t.Fatal(err)
	}
	for strict, want := range map[bool]int{false: exitDone, true: exitUnknown} {
		quiet := &tool{Streams: Streams{Out: io.Discard}}
		if got, why := statusOf(quiet.showEndedSuite(s, nil, following{strict: strict, destinations: outputs})); got != want {
			t.Errorf("strict is %v: got %d (%s), wanted %d", strict, got, why, want)
		}
	}
}

func TestStatusOfErrors(t *testing.T) {
	cases := map[string]struct {
		err         error
		want        int
		wantMessage string
	}{
		"none":               {nil, 0, ""},
		"plain":              {errors.New("no file"), 2, "no file"},
		"said already":       {&exitError{status: 1}, 1, ""},
		"with its own words": {&exitError{3, errors.New("left")}, 3, "left"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if status, message := statusOf(tc.err); status != tc.want || message != tc.wantMessage {
				t.Errorf("wanted %d and %q, got %d and %q", tc.want, tc.wantMessage, status, message)
			}
		})
	}
}

// An error before the run was found is a failed start. After that, only the result is unknown. Time-outs of Go's
// network are a context's DeadlineExceeded, like that of --timeout.
func TestStatusOfAnEndOfFollowing(t *testing.T) {
	network := &url.Error{Op: "Get", URL: "https://10.0.0.1:6443", Err: context.DeadlineExceeded}
	cases := map[string]struct {
		// uid is empty before the run was found.
		uid        types.UID
		err        error
		want       int
		wantItself bool
	}{
		"out of reach from the start": {"", fmt.Errorf("the cluster cannot be reached: %w", network), exitFailed, true},
		"not found":                   {"", follow.ErrNotFound, exitFailed, true},
		"out of reach for too long":   {"u", fmt.Errorf("%w since 12:00:00: %w", follow.ErrLost, network), exitUnknown, true},
		"deleted":                     {"u", follow.ErrGone, exitUnknown, true},
		"not readable any more":       {"u", errors.New("forbidden"), exitUnknown, true},
		"--timeout":                   {"u", context.DeadlineExceeded, exitUnknown, false},
		"interrupted":                 {"u", context.Canceled, exitUnknown, false},
		"interrupted, not found yet":  {"", context.Canceled, exitUnknown, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := (&tool{}).followRun(&follow.Cluster{}, client.ObjectKey{}, following{})
			f.follower.UID = tc.uid
			got, message := statusOf(f.ended(nil, tc.err))
			if got != tc.want || (message == tc.err.Error()) != tc.wantItself {
				t.Errorf("wanted status %d, got %d: %s", tc.want, got, message)
			}
		})
	}
}
