package faults

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Each rule ends a run of a minute after its fault, and the result so far is kept.
func TestRulesEndARunUnderTheirFault(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fault fault
		rules spec.StopRules
		// change applies to the load.
		change   func(*v1alpha1.EtcdBenchmark)
		inWindow func(*testing.T, *cluster)
		want     spec.GuardRule
	}{
		"WALFsync": {
			fault: fault{flush: slowFlush}, want: "WALFsync",
			rules: spec.StopRules{WALFsync: &spec.WALFsyncRule{MaxMeanMicroseconds: (slowFlush / 2).Microseconds(), ForSeconds: 8}},
		},
		"ErrorRatio": {
			// Any delay adds a proxy, which can be cut.
			fault: fault{clients: 1}, want: "ErrorRatio",
			rules:    spec.StopRules{ErrorRatio: &spec.ErrorRatioRule{MaxPerMillion: 200_000, ForSeconds: 2}},
			inWindow: func(_ *testing.T, c *cluster) { c.proxies[0].sever() },
		},
		"DatabaseSize": {
			change: valuesOf(64 << 10), want: "DatabaseSize",
			rules: spec.StopRules{DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 32 << 20}},
		},
		"Alarm": {
			fault: fault{arguments: []string{"--quota-backend-bytes=33554432"}}, change: valuesOf(64 << 10), want: "Alarm",
			rules: spec.StopRules{Alarm: true},
		},
		"LeaderChange": {
			fault: fault{members: 3}, want: "LeaderChange",
			rules:    spec.StopRules{LeaderChange: true},
			inWindow: changeLeader,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // a rule fires under its fault, however busy the machine is
			cluster := start(t, tc.fault)
			run := puts(cluster, guarded(tc.rules))
			if tc.change != nil {
				tc.change(run)
			}
			var inWindow func()
			if tc.inWindow != nil {
				inWindow = func() { tc.inWindow(t, cluster) }
			}
			result(t, run, inWindow)
			requireFinished(t, run, v1alpha1.ReasonGuardStopped)
			requireFired(t, run, tc.want)
			if name != "ErrorRatio" {
				requireNothingLeft(t, cluster, run)
			}
		})
	}
}

func requireFired(t *testing.T, run *v1alpha1.EtcdBenchmark, rule spec.GuardRule) {
	t.Helper()
	if g := run.Status.Guard; g == nil || g.Rule != rule || g.Subject == "" || g.Got == "" || g.Wanted == "" {
		t.Errorf("status.guard is %+v, wanted %s with its subject, the limit and the value", g, rule)
	}
	s := run.Status.Summary
	if s == nil || !s.Partial || s.MeasuredRequests == 0 {
		t.Errorf("wanted a partial result, found %+v", s)
	}
	if status := passedOf(run); status == metav1.ConditionTrue {
		t.Error("a run that was ended by its guard passed")
	}
}

func passedOf(run *v1alpha1.EtcdBenchmark) metav1.ConditionStatus {
	for _, c := range run.Status.Conditions {
		if c.Type == v1alpha1.ConditionPassed {
			return c.Status
		}
	}
	return ""
}

// requireNothingLeft looks for keys of the run.
func requireNothingLeft(t *testing.T, c *cluster, run *v1alpha1.EtcdBenchmark) {
	t.Helper()
	left, err := c.client(t, 0).Get(t.Context(), run.KeyPrefix(), clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	if left.Count > 0 {
		t.Errorf("%d keys are left", left.Count)
	}
}

// With a bound of requests, a part with a short round trip is done long before a part with a long one. The rules apply
// until both are done.
func TestRulesApplyUntilTheLastPartIsDone(t *testing.T) {
	t.Parallel()
	cluster := start(t, fault{members: 3})
	far := startProxy(t, cluster.members[1].client, 2*slowClients)
	run := puts(cluster, guarded(spec.StopRules{LeaderChange: true}), func(run *v1alpha1.EtcdBenchmark) {
		l := &run.Spec.Load
		l.Pods, l.Connections, l.Clients, l.Rate, l.DurationSeconds, l.Requests = 2, 2, 2, nil, nil, new(int64(1000))
		run.Spec.Target.Endpoints = []string{cluster.members[0].client, far.address()}
	})
	isNearDone := func(seen *v1alpha1.EtcdBenchmark) bool {
		return len(seen.Status.Pods) > 0 && seen.Status.Pods[0].Stage == string(results.StageCleaning)
	}
	resultWhen(t, run, isNearDone, func() { changeLeader(t, cluster) })
	requireFinished(t, run, v1alpha1.ReasonGuardStopped)
	requireFired(t, run, "LeaderChange")
	requireNothingLeft(t, cluster, run)
	if got := run.Status.Summary.MeasuredRequests; got < 500 || got >= 1000 {
		t.Errorf("%d requests were measured, wanted all 500 of the near part and not all of the far one", got)
	}
}

// Without a fault, no rule fires.
func TestAloneRulesDoNotFireWithoutAFault(t *testing.T) {
	t.Parallel()
	run := puts(start(t, fault{}), guarded(spec.StopRules{
		Alarm: true, LeaderChange: true,
		WALFsync:     &spec.WALFsyncRule{MaxMeanMicroseconds: (slowFlush / 2).Microseconds(), ForSeconds: 2},
		ErrorRatio:   &spec.ErrorRatioRule{MaxPerMillion: 0, ForSeconds: 2},
		DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 64 << 20},
	}))
	run.Spec.Load.DurationSeconds = new(int32(5))
	if completed(t, run, nil).Status.Guard != nil {
		t.Errorf("a rule fired: %+v", run.Status.Guard)
	}
}
