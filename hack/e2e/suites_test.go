//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkSuites runs a suite that compares a target with itself, and replaces the operator in the middle: no run is lost
// or repeated, and every request is counted.
func checkSuites(t *testing.T) {
	const requests = 400
	ns := namespace(t, "suites")
	jobs := recordLoadJobs(t, ns)
	run := newPutIn(ns, suite.side, "", requests)
	run.Spec.Load.Pods, run.Spec.Target.ConcurrentRuns, run.Spec.Load.Rate = 1, "", &spec.Rate{PerSecond: 200}
	s := &v1alpha1.EtcdBenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "versions"},
		Spec: v1alpha1.EtcdBenchmarkSuiteSpec{
			Targets:   []v1alpha1.SuiteTarget{{Name: "old", Target: run.Spec.Target}, {Name: "new", Target: run.Spec.Target}},
			Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: run.Spec.Workload}},
			Loads:     []v1alpha1.SuiteLoad{{Name: "c8", Load: run.Spec.Load}},
			Rounds:    3,
			Compare: &v1alpha1.SuiteCompare{Axis: v1alpha1.AxisTargets, Baseline: v1alpha1.SuiteBaseline{Entry: "old"}, Metrics: []v1alpha1.Metric{
				{Type: v1alpha1.MetricLatency, Operation: spec.OperationPut, Statistic: spec.StatisticP50, TolerancePercent: v1alpha1.MaxTolerance},
			}},
		},
	}
	if err := suite.client.Create(suite.ctx, s); err != nil {
		t.Fatal(err)
	}
	awaitSuite(t, s, "its third run", func() error {
		if len(s.Status.Results) < 2 || s.Status.Current == "" {
			return fmt.Errorf("%d runs have ended, and the current one is %q", len(s.Status.Results), s.Status.Current)
		}
		return nil
	})
	replaceOperator(t)
	awaitSuiteEnd(t, s)
	requireSuite(t, s)
	for _, r := range s.Status.Results {
		b := &v1alpha1.EtcdBenchmark{}
		if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: ns, Name: r.Name}, b); err != nil {
			t.Error(err)
			continue
		}
		requireCompleted(t, b)
		requireMeasured(t, b, requests)
		jobs.requireOne(t, b)
		requireNoKeys(t, b)
	}
	if got := mustKubectl(t, "get", "ebs", "-n", ns); !strings.Contains(got, "6/6") {
		t.Errorf("kubectl get ebs: wanted 6/6, found:\n%s", got)
	}
	checkDeletedSuite(t, s)
}

// requireSuite requires that all runs of a suite completed, once each, and that the two equal targets compare.
func requireSuite(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range s.Status.Results {
		if seen[r.Name] || r.Reason != v1alpha1.ReasonCompleted {
			t.Errorf("wanted each run once and Completed, found %+v", r)
		}
		seen[r.Name] = true
	}
	if finished := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished); finished.Reason != v1alpha1.ReasonCompleted || s.Status.Display.Runs != "6/6" {
		t.Errorf("wanted 6/6 runs and Completed, found %s and %s: %s", s.Status.Display.Runs, finished.Reason, finished.Message)
	}
	if !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionCleaned) {
		t.Errorf("wanted the keys of all runs deleted, found %+v", s.Status.Conditions)
	}
	// A busy machine makes runs invalid, so the verdict may be Unknown.
	if len(s.Status.Comparisons) != 1 || s.Status.Comparisons[0].Verdict == v1alpha1.Regressed {
		t.Errorf("wanted equal targets compared, found %+v", s.Status.Comparisons)
	}
}

// checkDeletedSuite deletes a suite while it runs: its run ends in order and is gone with it, and no other starts.
func checkDeletedSuite(t *testing.T, like *v1alpha1.EtcdBenchmarkSuite) {
	s := &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: like.Namespace, Name: "deleted"}, Spec: like.Spec}
	if err := suite.client.Create(suite.ctx, s); err != nil {
		t.Fatal(err)
	}
	awaitSuite(t, s, "a run", func() error {
		if s.Status.Current == "" {
			return fmt.Errorf("it has no current run")
		}
		return nil
	})
	current := &v1alpha1.EtcdBenchmark{}
	if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: s.Namespace, Name: s.Status.Current}, current); err != nil {
		t.Fatal(err)
	}
	mustKubectl(t, "delete", "ebs", s.Name, "-n", s.Namespace)
	eventually(t, 2*time.Minute, "its runs to be gone", func(ctx context.Context) error {
		var left v1alpha1.EtcdBenchmarkList
		err := suite.client.List(ctx, &left, client.InNamespace(s.Namespace), client.MatchingLabels{v1alpha1.LabelSuite: s.Name})
		if err == nil && len(left.Items) > 0 {
			err = fmt.Errorf("%d are left, among them %s", len(left.Items), left.Items[0].Name)
		}
		return err
	})
	requireNoKeys(t, current)
}

func awaitSuite(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite, what string, holds func() error) {
	t.Helper()
	eventually(t, finishWithin, "the suite "+s.Name+": "+what, func(ctx context.Context) error {
		if err := suite.client.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}
		return holds()
	})
}

// replaceOperator ends the operator's pod without warning; its Deployment starts another one.
func replaceOperator(t *testing.T) {
	t.Helper()
	pod, err := suite.operatorPod(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	mustKubectl(t, "delete", "pod", "-n", operatorNamespace, pod.Name, "--grace-period=0", "--force")
}

func awaitSuiteEnd(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite) {
	t.Helper()
	mustKubectl(t, "wait", "--for=condition=Finished", "ebs/"+s.Name, "-n", s.Namespace, "--timeout=5m")
	awaitSuite(t, s, "its end", func() error { return nil })
}

// checkSearch looks for the highest rate up to a bound that etcd can serve, and replaces the operator in the middle: no
// probe is lost or repeated, and each has sent the load of its step.
func checkSearch(t *testing.T) {
	const highest = 300
	ns := namespace(t, "search")
	jobs := recordLoadJobs(t, ns)
	run := newPutIn(ns, suite.side, "", 1)
	run.Spec.Load.Pods, run.Spec.Load.Requests, run.Spec.Load.DurationSeconds = 1, nil, new(int32(2))
	s := &v1alpha1.EtcdBenchmarkSuite{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "rate"},
		Spec: v1alpha1.EtcdBenchmarkSuiteSpec{
			Targets: []v1alpha1.SuiteTarget{{Name: "etcd", Target: run.Spec.Target}},
			Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: run.Spec.Workload, Objectives: []v1alpha1.Objective{
				{Name: "rate", Type: spec.ObjectiveAchievedRate, AchievedRate: &v1alpha1.AchievedRateObjective{MinPercent: 50}},
			}}},
			Search: &v1alpha1.SuiteSearch{Load: run.Spec.Load, MinPerSecond: 100, MaxPerSecond: highest, Confirmations: 2, PauseSeconds: new(int32(1))},
		},
	}
	if err := suite.client.Create(suite.ctx, s); err != nil {
		t.Fatal(err)
	}
	awaitSuite(t, s, "its third probe", func() error {
		if len(s.Status.Results) < 2 || s.Status.Current == "" {
			return fmt.Errorf("%d probes have ended, and the current one is %q", len(s.Status.Results), s.Status.Current)
		}
		return nil
	})
	replaceOperator(t)
	awaitSuiteEnd(t, s)
	if c := s.Status.Capacities; len(c) != 1 || c[0].State != v1alpha1.CapacityAtLeast || c[0].RatePerSecond != highest || c[0].Confirmed != 2 {
		t.Errorf("wanted at least %d/s, found %+v", highest, c)
	}
	if !meta.IsStatusConditionTrue(s.Status.Conditions, v1alpha1.ConditionPassed) {
		t.Errorf("found %+v", s.Status.Conditions)
	}
	for i, r := range s.Status.Results {
		b := &v1alpha1.EtcdBenchmark{}
		if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: ns, Name: r.Name}, b); err != nil {
			t.Error(err)
			continue
		}
		requireCompleted(t, b)
		jobs.requireOne(t, b)
		requireNoKeys(t, b)
		if r.Round != int32(i+1) || (b.Spec.Load.Rate == nil) != (i == 0) || b.Spec.Load.Rate != nil && b.Spec.Load.Rate.PerSecond != r.Probe.AskedPerSecond || r.Probe.ThroughputMilliPerSecond == 0 {
			t.Errorf("probe %d: found %+v and the load %+v", i+1, r, b.Spec.Load)
		}
	}
}
