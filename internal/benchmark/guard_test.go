package benchmark

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestPlanGuardsEveryRun(t *testing.T) {
	tests := map[string]struct {
		guard *v1alpha1.Guard
		want  plan.Guard
	}{
		"none":       {nil, plan.Guard{MaxFreeQuotaPercent: 50}},
		"a share":    {&v1alpha1.Guard{MaxFreeQuotaPercent: 10}, plan.Guard{MaxFreeQuotaPercent: 10}},
		"any amount": {&v1alpha1.Guard{MaxFreeQuotaPercent: 10, AcceptWrites: true}, plan.Guard{}},
		"acknowledged": {&v1alpha1.Guard{MaxFreeQuotaPercent: 50, AcknowledgeControlPlane: true},
			plan.Guard{MaxFreeQuotaPercent: 50, AcknowledgeControlPlane: true}},
		"both": {&v1alpha1.Guard{MaxFreeQuotaPercent: 50, AcceptWrites: true, AcknowledgeControlPlane: true}, plan.Guard{AcknowledgeControlPlane: true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Plan(putRun(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Guard = tc.guard }), []string{"a:1"})
			tc.want.StopOn.Alarm = true
			if err != nil || got.Guard != tc.want {
				t.Errorf("got the guard %+v (%v), wanted %+v", got.Guard, err, tc.want)
			}
		})
	}
}

// allRules has one of each.
var allRules = &v1alpha1.StopRules{
	Alarm: true, LeaderChange: true,
	DatabaseSize: &v1alpha1.DatabaseSizeRule{MaxBytes: 1_000_000},
	ErrorRatio:   &v1alpha1.ErrorRatioRule{MaxPerMillion: 1000, ForSeconds: 10},
	WALFsync:     &v1alpha1.WALFsyncRule{MaxMeanMicroseconds: 10_000, ForSeconds: 30},
}

func withRules(r *v1alpha1.StopRules) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Guard = &v1alpha1.Guard{StopOn: r} }
}

func TestStopRulesReachThePlan(t *testing.T) {
	tests := map[string]struct {
		rules *v1alpha1.StopRules
		want  plan.StopRules
		// watches: a rule is about the target.
		watches bool
	}{
		"none are said": {nil, plan.StopRules{Alarm: true}, false},
		"none":          {&v1alpha1.StopRules{}, plan.StopRules{}, false},
		"all": {allRules, plan.StopRules{
			Alarm: true, LeaderChange: true, MaxDatabaseBytes: 1_000_000,
			ErrorRatio: plan.ErrorRatioRule{MaxPerMillion: 1000, ForSeconds: 10},
			WALFsync:   plan.WALFsyncRule{MaxMeanMicroseconds: 10_000, ForSeconds: 30},
		}, true},
		"of requests": {&v1alpha1.StopRules{ErrorRatio: allRules.ErrorRatio}, plan.StopRules{ErrorRatio: plan.ErrorRatioRule{MaxPerMillion: 1000, ForSeconds: 10}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := putRun(withRules(tc.rules))
			got, err := Plan(run, []string{"a:1"})
			if diff := cmp.Diff(tc.want, got.Guard.StopOn); diff != "" || err != nil {
				t.Errorf("rules (-want +got), %v:\n%s", err, diff)
			}
			if got := WatchesTarget(run); got != tc.watches {
				t.Errorf("watches the target: %v, wanted %v", got, tc.watches)
			}
		})
	}
}

func TestGuardSaysWhatFired(t *testing.T) {
	at := windowStart.Add(time.Second)
	when := metav1.NewMicroTime(at)
	tests := map[string]struct {
		fired results.Fired
		want  v1alpha1.GuardStatus
	}{
		"alarm":    {results.Fired{Rule: results.GuardAlarm, Subject: "etcd-0", Detail: "NOSPACE"}, v1alpha1.GuardStatus{Rule: "Alarm", Subject: "etcd-0", Wanted: "no alarm", Got: "NOSPACE"}},
		"leader":   {results.Fired{Rule: results.GuardLeaderChange, Subject: "etcd-0", Detail: "an election"}, v1alpha1.GuardStatus{Rule: "LeaderChange", Subject: "etcd-0", Wanted: "the same leader", Got: "an election"}},
		"database": {results.Fired{Rule: results.GuardDatabaseSize, Subject: "etcd-0", Got: 1_000_001, Limit: 1e6}, v1alpha1.GuardStatus{Rule: "DatabaseSize", Subject: "etcd-0", Wanted: "≤1,000,000 B", Got: "1,000,001 B"}},
		"errors":   {results.Fired{Rule: results.GuardErrorRatio, Got: 2000, Limit: 1000}, v1alpha1.GuardStatus{Rule: "ErrorRatio", Subject: "client pod 1", Wanted: "≤1000 per million within 10 s", Got: "2000 per million"}},
		"flushes":  {results.Fired{Rule: results.GuardWALFsync, Subject: "etcd-0", Got: 0.0125, Limit: 0.01}, v1alpha1.GuardStatus{Rule: "WALFsync", Subject: "etcd-0", Wanted: "≤10ms on average within 30 s", Got: "12.5ms"}},
		"longest":  {results.Fired{Rule: results.GuardWALFsync, Subject: strings.Repeat("x", 600), Got: 1e300, Limit: 0.01}, v1alpha1.GuardStatus{Rule: "WALFsync", Subject: strings.Repeat("x", 252) + " …", Wanted: "≤10ms on average within 30 s", Got: "86400000ms"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.fired.At, tc.want.FiredAt = at, when
			later := &results.Fired{Rule: results.GuardAlarm, At: at.Add(1)}
			snaps := []*results.Snapshot{{Index: 0, Fired: later}, nil, {Index: 1, Fired: &tc.fired}, {Index: 2}}
			got := Guard(putRun(withRules(allRules)), snaps)
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			for _, part := range []string{string(tc.want.Rule), tc.want.Subject, tc.want.Wanted, tc.want.Got} {
				if message := GuardMessage(got); !strings.Contains(message, part) {
					t.Errorf("message %q says nothing of %q", message, part)
				}
			}
		})
	}
	if got := Guard(putRun(), []*results.Snapshot{nil, {}}); got != nil {
		t.Errorf("got %+v where nothing fired", got)
	}
}
