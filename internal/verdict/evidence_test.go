package verdict

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// took makes a member do something this often in ten seconds, with this duration each.
func took(timer results.Timer, count, millis float64) func(map[results.Figure]float64) {
	return func(f map[results.Figure]float64) {
		f[timer.Count()], f[timer.Seconds()] = count, count*millis/1000
	}
}

func usedProcessors(seconds float64) func(map[results.Figure]float64) {
	return func(f map[results.Figure]float64) { f[results.FigureCPUSeconds] = seconds }
}

// asks turns a pod's puts into requests of another operation.
func asks(o spec.Operation) func(*results.Snapshot) {
	return func(s *results.Snapshot) {
		s.Operations = map[spec.Operation]*results.OperationResult{o: s.Operations[spec.OperationPut]}
	}
}

func resourcesOf(t *testing.T, all []v1alpha1.Evidence) (out []v1alpha1.Resource) {
	t.Helper()
	for _, e := range all {
		out = append(out, e.Resource)
		if len(e.Message) == 0 || len(e.Message) > v1alpha1.MaxEvidenceLength {
			t.Errorf("%s says %q", e.Resource, e.Message)
		}
	}
	return out
}

// The puts of runtest.Measured(0, 100) take 50.5 ms on average. A quiet member flushes its log for 0.1 ms.
func TestEvidence(t *testing.T) {
	const (
		disk, network, cpu, apply, unexplained = v1alpha1.ResourceDisk, v1alpha1.ResourceNetwork, v1alpha1.ResourceCPU, v1alpha1.ResourceApply, v1alpha1.ResourceUnexplained
		maintenance                            = v1alpha1.ResourceMaintenance
		flush, commit, trip, applied           = results.TimerWALFsync, results.TimerBackendCommit, results.TimerPeerRoundTrip, results.TimerApply
	)
	quiet := func(change ...func(map[results.Figure]float64)) *results.MemberWindow {
		return runtest.Flushed(0, append([]func(map[results.Figure]float64){usedProcessors(1), took(flush, 1000, 0.1)}, change...)...)
	}
	gone := &results.MemberWindow{Unknown: "gone"}
	tests := map[string]struct {
		windows []*results.MemberWindow
		want    []v1alpha1.Resource
	}{
		"nothing is known":                 {[]*results.MemberWindow{gone, nil}, nil},
		"too few observations":             {[]*results.MemberWindow{quiet(took(flush, 29, 45))}, nil},
		"a quiet leader":                   {[]*results.MemberWindow{quiet()}, []v1alpha1.Resource{unexplained}},
		"a quiet follower only":            {[]*results.MemberWindow{gone, quiet()}, nil},
		"a slow disk":                      {[]*results.MemberWindow{quiet(took(flush, 200, 45))}, []v1alpha1.Resource{disk}},
		"a slow disk that explains a part": {[]*results.MemberWindow{quiet(took(flush, 200, 6))}, []v1alpha1.Resource{disk, unexplained}},
		"a busy disk without a wait":       {[]*results.MemberWindow{quiet(took(flush, 3000, 3))}, []v1alpha1.Resource{unexplained}},
		"a follower's without a wait":      {[]*results.MemberWindow{quiet(), quiet(took(flush, 100, 80))}, []v1alpha1.Resource{unexplained}},
		"slow commits":                     {[]*results.MemberWindow{quiet(took(commit, 60, 100))}, []v1alpha1.Resource{disk}},
		"slow commits that applying waits for": {[]*results.MemberWindow{quiet(took(commit, 60, 100), took(applied, 1000, 5))},
			[]v1alpha1.Resource{disk}},
		"quick commits":               {[]*results.MemberWindow{quiet(took(commit, 60, 30))}, []v1alpha1.Resource{unexplained}},
		"busy processors":             {[]*results.MemberWindow{quiet(usedProcessors(19))}, []v1alpha1.Resource{cpu, unexplained}},
		"processors without a number": {[]*results.MemberWindow{quiet(usedProcessors(19), runtest.Without(results.FigureProcessors))}, []v1alpha1.Resource{unexplained}},
		"slow peers":                  {[]*results.MemberWindow{quiet(took(trip, 4, 30))}, []v1alpha1.Resource{network}},
		"peers without a wait":        {[]*results.MemberWindow{quiet(took(trip, 4, 80))}, nil},
		"a slow store":                {[]*results.MemberWindow{quiet(took(applied, 100, 8))}, []v1alpha1.Resource{apply, unexplained}},
		"a busy store":                {[]*results.MemberWindow{quiet(took(applied, 8000, 1))}, []v1alpha1.Resource{apply, unexplained}},
		"a short defragmentation":     {[]*results.MemberWindow{quiet(took(results.TimerDefragment, 1, 20))}, []v1alpha1.Resource{maintenance, unexplained}},
		"a long compaction":           {[]*results.MemberWindow{quiet(took(results.TimerCompact, 2, 500))}, []v1alpha1.Resource{maintenance, unexplained}},
		"a short compaction":          {[]*results.MemberWindow{quiet(took(results.TimerCompact, 2, 499))}, []v1alpha1.Resource{unexplained}},
		"a store that is half busy":   {[]*results.MemberWindow{quiet(took(applied, 5000, 1))}, []v1alpha1.Resource{unexplained}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(tc.windows...))})
			if diff := cmp.Diff(tc.want, resourcesOf(t, Evidence(runtest.Puts(), s, Clients(runtest.Puts(), s)))); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}

// Operations that are not a single write are not compared with the wait of a write.
func TestEvidenceOfOtherOperations(t *testing.T) {
	window := func(millis float64) *results.MemberWindow {
		return runtest.Flushed(0, usedProcessors(1), took(results.TimerWALFsync, 100, millis))
	}
	for name, tc := range map[string]struct {
		operation spec.Operation
		millis    float64
		want      []v1alpha1.Resource
	}{
		"transactions wait":                {spec.OperationTxn, 30, []v1alpha1.Resource{v1alpha1.ResourceDisk}},
		"lease grants wait":                {spec.OperationLeaseGrant, 30, []v1alpha1.Resource{v1alpha1.ResourceDisk}},
		"others, with a disk at work":      {spec.OperationSTM, 30, nil},
		"others, with a disk that is busy": {spec.OperationSTM, 80, []v1alpha1.Resource{v1alpha1.ResourceDisk}},
	} {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, asks(tc.operation), runtest.Told(window(tc.millis)))})
			if diff := cmp.Diff(tc.want, resourcesOf(t, Evidence(runtest.Puts(), s, Clients(runtest.Puts(), s)))); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}

// In an open loop that falls behind, latencies are seconds. The members' work is compared with the service time.
func TestEvidenceIsOfServiceTime(t *testing.T) {
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(0, usedProcessors(1), took(results.TimerWALFsync, 200, 45))))})
	late := s.Operations[0].Latency.Values[spec.StatisticMean]
	late.Duration *= 100
	s.Operations[0].Latency.Values[spec.StatisticMean] = late
	got := resourcesOf(t, Evidence(runtest.Puts(), s, Clients(runtest.Puts(), s)))
	if diff := cmp.Diff([]v1alpha1.Resource{v1alpha1.ResourceDisk}, got); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

// The unexplained part names the client if the client was a limit.
func TestUnexplainedNamesTheClient(t *testing.T) {
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(0, usedProcessors(1), took(results.TimerWALFsync, 200, 0.1))))})
	for verdict, want := range map[v1alpha1.ValidityVerdict]bool{v1alpha1.ValidityClientBound: true, v1alpha1.ValidityValid: false} {
		if e := Evidence(runtest.Puts(), s, &v1alpha1.Validity{Verdict: verdict}); len(e) != 1 || strings.Contains(e[0].Message, "status.summary.validity") != want {
			t.Errorf("%s: got %+v", verdict, e)
		}
	}
}
