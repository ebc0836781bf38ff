package benchmark

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestPlanGuardsEveryRun(t *testing.T) {
	tests := map[string]struct {
		guard *spec.Guard
		want  spec.Guard
		// quota is the share of the free quota that the run may write, in percent; 0 is no limit.
		quota int64
	}{
		"none":       {nil, spec.Guard{MaxFreeQuotaPercent: 50}, 50},
		"a share":    {&spec.Guard{MaxFreeQuotaPercent: 10}, spec.Guard{MaxFreeQuotaPercent: 10}, 10},
		"any amount": {&spec.Guard{MaxFreeQuotaPercent: 10, AcceptWrites: true}, spec.Guard{MaxFreeQuotaPercent: 10, AcceptWrites: true}, 0},
		"acknowledged": {&spec.Guard{MaxFreeQuotaPercent: 50, AcknowledgeControlPlane: true},
			spec.Guard{MaxFreeQuotaPercent: 50, AcknowledgeControlPlane: true}, 50},
		"both": {&spec.Guard{MaxFreeQuotaPercent: 50, AcceptWrites: true, AcknowledgeControlPlane: true},
			spec.Guard{MaxFreeQuotaPercent: 50, AcceptWrites: true, AcknowledgeControlPlane: true}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Plan(runtest.Puts(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Guard = tc.guard }), []string{"a:1"})
			if err != nil || got.Guard != tc.want || got.Guard.QuotaPercent() != tc.quota || got.Guard.Rules() != (spec.StopRules{Alarm: true, Quota: tc.quota > 0}) {
				t.Errorf("got the guard %+v with the rules %+v and %d %% of the quota (%v), wanted %+v, alarms and %d %%",
					got.Guard, got.Guard.Rules(), got.Guard.QuotaPercent(), err, tc.want, tc.quota)
			}
		})
	}
}

// allRules has one rule of each kind.
var allRules = &spec.StopRules{
	Alarm: true, LeaderChange: true,
	DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 1_000_000},
	ErrorRatio:   &spec.ErrorRatioRule{MaxPerMillion: 1000, ForSeconds: 10},
	WALFsync:     &spec.WALFsyncRule{MaxMeanMicroseconds: 10_000, ForSeconds: 30},
}

func withRules(r *spec.StopRules) func(*v1alpha1.EtcdBenchmark) {
	return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Guard = &spec.Guard{StopOn: r} }
}

func TestStopRulesReachThePlan(t *testing.T) {
	tests := map[string]struct {
		rules *spec.StopRules
		want  spec.StopRules
		// watches: one of the rules is about the target.
		watches bool
	}{
		"no stopOn": {nil, spec.StopRules{Alarm: true, Quota: true}, false},
		"none":      {&spec.StopRules{}, spec.StopRules{}, false},
		"all": {allRules, spec.StopRules{
			Alarm: true, LeaderChange: true,
			DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: 1_000_000},
			ErrorRatio:   &spec.ErrorRatioRule{MaxPerMillion: 1000, ForSeconds: 10},
			WALFsync:     &spec.WALFsyncRule{MaxMeanMicroseconds: 10_000, ForSeconds: 30},
		}, true},
		"of requests": {&spec.StopRules{ErrorRatio: allRules.ErrorRatio},
			spec.StopRules{ErrorRatio: &spec.ErrorRatioRule{MaxPerMillion: 1000, ForSeconds: 10}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := runtest.Puts(withRules(tc.rules))
			got, err := Plan(run, []string{"a:1"})
			if diff := cmp.Diff(tc.want, got.Guard.Rules()); diff != "" || err != nil {
				t.Errorf("rules (-want +got), %v:\n%s", err, diff)
			}
			if got := WatchesTarget(run); got != tc.watches {
				t.Errorf("watches the target: %v, wanted %v", got, tc.watches)
			}
		})
	}
}

func TestGuardSaysWhatFired(t *testing.T) {
	at := runtest.WindowStart.Add(time.Second)
	when := metav1.NewMicroTime(at)
	tests := map[string]struct {
		fired results.Fired
		want  v1alpha1.GuardStatus
	}{
		"alarm":    {results.Fired{Rule: spec.GuardAlarm, Subject: "etcd-0", Detail: "NOSPACE"}, v1alpha1.GuardStatus{Rule: "Alarm", Subject: "etcd-0", Wanted: "no alarm", Got: "NOSPACE"}},
		"leader":   {results.Fired{Rule: spec.GuardLeaderChange, Subject: "etcd-0", Detail: "an election won by etcd-0"}, v1alpha1.GuardStatus{Rule: "LeaderChange", Subject: "etcd-0", Wanted: "no election", Got: "an election won by etcd-0"}},
		"database": {results.Fired{Rule: spec.GuardDatabaseSize, Subject: "etcd-0", Got: 1_000_001, Limit: 1e6}, v1alpha1.GuardStatus{Rule: "DatabaseSize", Subject: "etcd-0", Wanted: "≤1,000,000 B", Got: "1,000,001 B"}},
		"errors":   {results.Fired{Rule: spec.GuardErrorRatio, Got: 2000, Limit: 1000}, v1alpha1.GuardStatus{Rule: "ErrorRatio", Subject: "client pod 1", Wanted: "≤1000 per million within 10 s", Got: "2000 per million"}},
		"flushes":  {results.Fired{Rule: spec.GuardWALFsync, Subject: "etcd-0", Got: 0.0125, Limit: 0.01}, v1alpha1.GuardStatus{Rule: "WALFsync", Subject: "etcd-0", Wanted: "≤10ms on average within 30 s", Got: "12.5ms"}},
		"longest":  {results.Fired{Rule: spec.GuardWALFsync, Subject: strings.Repeat("x", 600), Got: 1e300, Limit: 0.01}, v1alpha1.GuardStatus{Rule: "WALFsync", Subject: strings.Repeat("x", 252) + " …", Wanted: "≤10ms on average within 30 s", Got: "86400000ms"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.fired.At, tc.want.FiredAt = at, when
			later := &results.Fired{Rule: spec.GuardAlarm, At: at.Add(1)}
			snaps := []*results.Snapshot{{Index: 0, Fired: later}, nil, {Index: 1, Fired: &tc.fired}, {Index: 2}}
			got := Guard(runtest.Puts(withRules(allRules)), snaps)
			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			for _, part := range []string{string(tc.want.Rule), tc.want.Subject, tc.want.Wanted, tc.want.Got} {
				if message := GuardMessage(got); !strings.Contains(message, part) {
					t.Errorf("message %q lacks %q", message, part)
				}
			}
		})
	}
	if got := Guard(runtest.Puts(), []*results.Snapshot{nil, {}}); got != nil {
		t.Errorf("got %+v where nothing fired", got)
	}
}
