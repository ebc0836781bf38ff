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

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkSchedule lets a schedule start two sessions, one per minute, and replaces the operator during the first one: no
// session is lost or repeated, and the history has a number of each.
func checkSchedule(t *testing.T) {
	ns := namespace(t, "schedule")
	jobs := recordLoadJobs(t, ns)
	run := newPutIn(ns, suite.side, "", 1)
	run.Spec.Load.Pods, run.Spec.Load.Requests, run.Spec.Load.DurationSeconds = 1, nil, new(int32(5))
	sch := &v1alpha1.EtcdBenchmarkSchedule{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "minutely"},
		Spec: v1alpha1.EtcdBenchmarkScheduleSpec{
			Schedule: "* * * * *",
			SuiteTemplate: v1alpha1.SuiteTemplateSpec{Spec: v1alpha1.EtcdBenchmarkSuiteSpec{
				Targets:   []v1alpha1.SuiteTarget{{Name: "etcd", Target: run.Spec.Target}},
				Workloads: []v1alpha1.SuiteWorkload{{Name: "put", Workload: run.Spec.Workload}},
				Loads:     []v1alpha1.SuiteLoad{{Name: "c8", Load: run.Spec.Load}},
			}},
		},
	}
	if err := suite.client.Create(suite.ctx, sch); err != nil {
		t.Fatal(err)
	}
	awaitSchedule(t, sch, "its first session", func() error {
		if sch.Status.Active == "" {
			return fmt.Errorf("it has no active suite")
		}
		return nil
	})
	replaceOperator(t)
	awaitSchedule(t, sch, "two sessions", func() error {
		if n := len(sch.Status.Sessions); n < 2 {
			return fmt.Errorf("%d sessions have ended", n)
		}
		return nil
	})
	mustKubectl(t, "patch", "ebsch", sch.Name, "-n", ns, "--type=merge", "-p", `{"spec":{"suspend":true}}`)
	seen := map[string]bool{}
	for _, s := range sch.Status.Sessions {
		if seen[s.Name] || s.Reason != v1alpha1.ReasonCompleted || s.Confirming {
			t.Errorf("wanted each session once and Completed, found %+v", s)
		}
		seen[s.Name] = true
	}
	requireNumbers(t, sch)
	if c := meta.FindStatusCondition(sch.Status.Conditions, v1alpha1.ConditionSuspect); c == nil || c.Status != metav1.ConditionUnknown {
		t.Errorf("wanted that two sessions say nothing, found %+v", sch.Status.Conditions)
	}
	var runs v1alpha1.EtcdBenchmarkList
	if err := suite.client.List(suite.ctx, &runs, client.InNamespace(ns)); err != nil || len(runs.Items) == 0 {
		t.Fatalf("found %d runs: %v", len(runs.Items), err)
	}
	for i := range runs.Items {
		jobs.requireOne(t, &runs.Items[i])
	}
	if got := mustKubectl(t, "get", "ebsch", "-n", ns); !strings.Contains(got, "* * * * *") {
		t.Errorf("kubectl get ebsch: found\n%s", got)
	}
	mustKubectl(t, "delete", "ebsch", sch.Name, "-n", ns)
	eventually(t, 2*time.Minute, "its suites and runs to be gone", func(ctx context.Context) error {
		for _, list := range []client.ObjectList{&v1alpha1.EtcdBenchmarkSuiteList{}, &v1alpha1.EtcdBenchmarkList{}} {
			if err := suite.client.List(ctx, list, client.InNamespace(ns)); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d are left of %T", n, list)
			}
		}
		return nil
	})
}

// requireNumbers requires that the history has the throughput of each session whose run is valid. On a busy machine, a run
// may be invalid.
func requireNumbers(t *testing.T, sch *v1alpha1.EtcdBenchmarkSchedule) {
	t.Helper()
	if s := sch.Status.Series; len(s) != 1 || len(s[0].Values) != len(sch.Status.Sessions) {
		t.Fatalf("wanted a value of each of %d sessions, found %+v", len(sch.Status.Sessions), s)
	}
	for i, session := range sch.Status.Sessions {
		s := &v1alpha1.EtcdBenchmarkSuite{}
		if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: sch.Namespace, Name: session.Name}, s); err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		if r := s.Status.Results[0]; r.Invalid == "" {
			want = r.Operations[0].ThroughputMilliPerSecond
		}
		if got := sch.Status.Series[0].Values[i]; got != want {
			t.Errorf("session %s: found %d, wanted %d of %+v", session.Name, got, want, s.Status.Results)
		}
	}
}

func awaitSchedule(t *testing.T, sch *v1alpha1.EtcdBenchmarkSchedule, what string, holds func() error) {
	t.Helper()
	eventually(t, finishWithin, "the schedule "+sch.Name+": "+what, func(ctx context.Context) error {
		if err := suite.client.Get(ctx, client.ObjectKeyFromObject(sch), sch); err != nil {
			return err
		}
		return holds()
	})
}
