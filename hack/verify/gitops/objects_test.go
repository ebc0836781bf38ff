package gitops

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

const root = "../../.."

// situation is an object, and what Argo CD and Flux should say about it. flux is kstatus; expression is what the
// expressions of config/gitops/flux say.
type situation struct {
	object                 runtime.Object
	argo, flux, expression string
}

// situations are those of runs and suites. kstatus cannot express a verdict: for it, a run that has ended is current.
func situations() map[string]situation {
	finished := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionFinished, Status: status, Reason: reason, Message: "of the test"}
	}
	passed := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: v1alpha1.ConditionPassed, Status: status, Reason: reason}
	}
	stalled := metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonTargetLost, Message: "of the test"}
	reconciling := metav1.Condition{Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionTrue, Reason: v1alpha1.StageRunning}
	completed := finished(metav1.ConditionTrue, v1alpha1.ReasonCompleted)
	return map[string]situation{
		"new":                 {run(), "Progressing", "Current", "InProgress"},
		"queued":              {run(finished(metav1.ConditionFalse, v1alpha1.StageQueued), reconciling), "Progressing", "InProgress", "InProgress"},
		"running":             {run(finished(metav1.ConditionFalse, v1alpha1.StageRunning), reconciling), "Progressing", "InProgress", "InProgress"},
		"without objectives":  {run(completed), "Healthy", "Current", "Current"},
		"passed":              {run(completed, passed(metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet)), "Healthy", "Current", "Current"},
		"missed":              {run(completed, passed(metav1.ConditionFalse, v1alpha1.ReasonObjectivesMissed)), "Degraded", "Current", "Failed"},
		"unknown":             {run(completed, passed(metav1.ConditionUnknown, v1alpha1.ReasonTargetChanged)), "Degraded", "Current", "Failed"},
		"failed":              {run(finished(metav1.ConditionTrue, v1alpha1.ReasonTargetLost), stalled), "Degraded", "Failed", "Failed"},
		"stopped":             {run(finished(metav1.ConditionTrue, v1alpha1.ReasonStopped)), "Degraded", "Current", "Failed"},
		"partly completed":    {run(finished(metav1.ConditionTrue, v1alpha1.ReasonPartlyCompleted), passed(metav1.ConditionUnknown, v1alpha1.ReasonNotJudged)), "Degraded", "Current", "Failed"},
		"a suite, new":        {&v1alpha1.EtcdBenchmarkSuite{}, "Progressing", "Current", "InProgress"},
		"a suite, running":    {runningSuite(), "Progressing", "InProgress", "InProgress"},
		"a suite, refused":    {refusedSuite(), "Degraded", "Failed", "Failed"},
		"a suite, regressed":  {suiteWith(completed, passed(metav1.ConditionFalse, v1alpha1.ReasonRegressed)), "Degraded", "Current", "Failed"},
		"a suite that passed": {suiteWith(completed, passed(metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet)), "Healthy", "Current", "Current"},
	}
}

func run(conditions ...metav1.Condition) *v1alpha1.EtcdBenchmark {
	b := runtest.Puts()
	if len(conditions) > 0 {
		b.Status.ObservedGeneration, b.Status.Conditions = b.Generation, conditions
	}
	return b
}

func suiteWith(conditions ...metav1.Condition) *v1alpha1.EtcdBenchmarkSuite {
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Name: "s", Generation: 1}}
	s.Status.ObservedGeneration, s.Status.Conditions = 1, conditions
	return s
}

// runningSuite and refusedSuite have the conditions that the operator's own code writes.
func runningSuite() *v1alpha1.EtcdBenchmarkSuite {
	s := suiteWith()
	suite.Continue(s, v1alpha1.StageRunning, "1 of 2 runs have ended.", time.Unix(1_790_000_000, 0))
	return s
}

func refusedSuite() *v1alpha1.EtcdBenchmarkSuite {
	s := suiteWith()
	suite.EndAsInvalid(s, "The API server refuses a cell.", time.Unix(1_790_000_000, 0))
	return s
}

// unstructuredOf is the object as a GitOps tool reads it from the API server.
func unstructuredOf(t *testing.T, o runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	kind := "EtcdBenchmark"
	switch o.(type) {
	case *v1alpha1.EtcdBenchmarkSuite:
		kind = "EtcdBenchmarkSuite"
	case *v1alpha1.EtcdBenchmarkSchedule:
		kind = "EtcdBenchmarkSchedule"
	}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	return u
}
