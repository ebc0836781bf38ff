package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"
)

// serverObjectives are one of each type that is about the run or the members.
var serverObjectives = map[string]string{
	"AchievedRate":    `achievedRate: {minPercent: 90}`,
	"StartSkew":       `startSkew: {maxMicroseconds: 1}`,
	"WALFsync":        `walFsync: {maxMicroseconds: 10000}`,
	"BackendCommit":   `backendCommit: {statistic: P99, maxMicroseconds: 10000}`,
	"PeerRoundTrip":   `peerRoundTrip: {statistic: Mean, maxMicroseconds: 10000}`,
	"LeaderChanges":   `leaderChanges: {max: 0}`,
	"SlowApplies":     `slowApplies: {max: 0}`,
	"FailedProposals": `failedProposals: {max: 0}`,
	"MemberMemory":    `memberMemory: {maxBytes: 1073741824}`,
	"MemberCPU":       `memberCPU: {maxMillicores: 1500}`,
	"DatabaseGrowth":  `databaseGrowth: {maxBytes: 0}`,
}

const openLoop = `{durationSeconds: 10, rate: {perSecond: 100}}`

func TestAdmissionOfServerObjectives(t *testing.T) {
	for kind, field := range serverObjectives {
		t.Run(kind, func(t *testing.T) {
			good := edit{"spec.objectives", fmt.Sprintf(`[{name: a, type: %s, %s}]`, kind, field)}
			if err := create(t, object(t, edit{"spec.load", openLoop}, good)); err != nil {
				t.Errorf("wanted %s to be accepted, found: %v", good.yaml, err)
			}
			name, _, _ := strings.Cut(field, ":")
			refused := map[string]string{
				fmt.Sprintf(`[{name: a, type: %s}]`, kind):                                             fmt.Sprintf("type %s needs the field %s and no other", kind, name),
				fmt.Sprintf(`[{name: a, type: Throughput, throughput: {minPerSecond: 1}, %s}]`, field): "type Throughput needs the field throughput and no other",
			}
			for bad, want := range refused {
				err := create(t, object(t, edit{"spec.load", openLoop}, edit{"spec.objectives", bad}))
				if err == nil || !strings.Contains(refusal(err), want) {
					t.Errorf("%s: wanted a rejection that says %q, found: %v", bad, want, err)
				}
			}
		})
	}
}

func TestAdmissionRejectsServerSettings(t *testing.T) {
	tests := map[string]struct {
		edit edit
		want string
	}{
		"a share of no rate":       {edit{"spec.objectives", `[{name: a, type: AchievedRate, achievedRate: {minPercent: 90}}]`}, "needs load.rate"},
		"a share above the whole":  {edit{"spec.objectives", `[{name: a, type: AchievedRate, achievedRate: {minPercent: 101}}]`}, "less than or equal to 100"},
		"an unknown statistic":     {edit{"spec.objectives", `[{name: a, type: WALFsync, walFsync: {statistic: P50, maxMicroseconds: 1}}]`}, `supported values: "Mean", "P99"`},
		"a count below nothing":    {edit{"spec.objectives", `[{name: a, type: SlowApplies, slowApplies: {max: -1}}]`}, "greater than or equal to 0"},
		"samples without a pause":  {edit{"spec.target.sampleIntervalSeconds", `0`}, "greater than or equal to 1"},
		"an unknown latency value": {edit{"spec.objectives", `[{name: a, type: Latency, latency: {operation: Put, statistic: Variance, maxMicroseconds: 1}}]`}, `"Stddev"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, tc.edit))
			if err == nil || !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}
