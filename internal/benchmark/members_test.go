package benchmark

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestSummaryOfMembers(t *testing.T) {
	b := runtest.Puts()
	unread := &results.MemberWindow{Unknown: strings.Repeat("x", 600)}
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(1000, runtest.Sampled), unread, nil))})
	want := []v1alpha1.MemberSummary{
		{
			ID: "a", Name: "etcd-a", SampledMicroseconds: 10_000_000,
			WALFsync: &v1alpha1.MemberDuration{
				Count: 1000, MeanNanoseconds: 2_000_000, P99AboveMicroseconds: new(int64(4000)), P99AtMostMicroseconds: new(int64(8000)), EstimatesMicroseconds: []int64{1500, 3000, 7500},
			},
			LeaderChanges: new(int64(1)), SlowApplies: new(int64(0)), FailedProposals: new(int64(3)),
			CPUMillicores: new(int64(1500)), Processors: new(int64(2)), MemoryBytes: new(int64(1 << 30)), DatabaseBytes: new(int64(7000)), DatabaseGrowthBytes: new(int64(2000)),
			CPUHighestMillicores: new(int64(1875)), StorageReadBytes: new(int64(0)), StorageWrittenBytes: new(int64(3e9)), PodReceivedBytes: new(int64(4e6)), PodSentBytes: new(int64(5e6)),
		},
		{ID: "b", Name: "etcd-b", Unknown: strings.Repeat("x", 508) + " …"},
	}
	if diff := cmp.Diff(want, Summary(b, s).Members); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

// A member can report any number; status holds integers.
func TestSummaryOmitsFiguresBeyondIntegers(t *testing.T) {
	absurd := runtest.Flushed(1e300, func(f map[results.Figure]float64) {
		f[results.FigureLeaderChanges], f[results.FigureDatabaseEndBytes] = 1e300, 1e300
		f[results.FigureCPUSeconds] = 1e300
	})
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(absurd))})
	got := Summary(runtest.Puts(), s).Members[0]
	if got.LeaderChanges != nil || got.WALFsync != nil || got.DatabaseGrowthBytes != nil || got.CPUMillicores != nil {
		t.Errorf("got %+v, wanted nothing for absurd numbers", got)
	}
}

func TestTheVersionOfTheTarget(t *testing.T) {
	leader := results.Member{ID: "a", Version: "3.7.3", Leader: true}
	silent := results.Member{ID: "b", Leader: true}
	tests := map[string]struct {
		members []results.Member
		want    string
	}{
		"the leader's":              {[]results.Member{{ID: "c", Version: "3.6.5"}, leader}, "3.7.3"},
		"no address of the leader":  {[]results.Member{silent, {ID: "c", Version: "3.6.5"}, {ID: "d"}}, "3.6.5"},
		"two versions, no leader's": {[]results.Member{silent, {ID: "c", Version: "3.6.5"}, {ID: "d", Version: "3.7.3"}}, ""},
		"no answer":                 {[]results.Member{silent}, ""},
	}
	for name, tc := range tests {
		if got := TargetStatus(runtest.Puts(), nil, &results.Target{Members: tc.members}).Version; got != tc.want {
			t.Errorf("%s: wanted %q, found %q", name, tc.want, got)
		}
	}
}

// A store without metrics of its own has figures of kubelets, and a member without an address has none.
func TestWithMembers(t *testing.T) {
	target := &v1alpha1.TargetStatus{Members: []v1alpha1.MemberStatus{{ID: "a", Endpoint: "a:1"}, {ID: "b", Name: "beta", Endpoint: "b:1"}, {ID: "c"}}}
	of := func(endpoint string) *v1alpha1.KubeletFigures {
		return &v1alpha1.KubeletFigures{Unknown: endpoint}
	}
	set := func(endpoint string) func(*v1alpha1.MemberSummary) {
		return func(m *v1alpha1.MemberSummary) { m.Kubelet = of(endpoint) }
	}
	got := WithMembers([]v1alpha1.MemberSummary{{ID: "a", Processors: new(int64(1))}}, target, set)
	want := []v1alpha1.MemberSummary{{ID: "a", Processors: new(int64(1)), Kubelet: of("a:1")}, {ID: "b", Name: "beta", Kubelet: of("b:1")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	if got := WithMembers(nil, target, func(string) func(*v1alpha1.MemberSummary) { return nil }); got != nil {
		t.Errorf("wanted no members without a cluster, found %+v", got)
	}
}
