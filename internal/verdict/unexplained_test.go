package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// figures sets figures of a member.
func figures(set map[results.Figure]float64) func(map[results.Figure]float64) {
	return func(f map[results.Figure]float64) {
		for figure, v := range set {
			f[figure] = v
		}
	}
}

func pinged(count, seconds float64) func(map[results.Figure]float64) {
	return figures(map[results.Figure]float64{
		results.FigurePings: count, results.FigurePingShortestSeconds: seconds, results.FigurePingMedianSeconds: 1.1 * seconds, results.FigurePingLongestSeconds: 3,
	})
}

// pending are samples of pending proposals, at a rate of 100 applied proposals a second.
func pending(mean, samples, busy float64) func(map[results.Figure]float64) {
	return figures(map[results.Figure]float64{
		results.FigurePendingMean: mean, results.FigurePendingSamples: samples, results.FigurePendingBusySamples: busy, results.FigureAppliedProposals: 1000,
	})
}

// The requests of runtest.Measured(0, 100) take 50.5 ms on average. Here, each takes 30 ms more.
func TestPings(t *testing.T) {
	for name, tc := range map[string]struct {
		change  []func(map[results.Figure]float64)
		want    bool
		clients v1alpha1.ValidityVerdict
	}{
		"the way takes most of the time":   {[]func(map[results.Figure]float64){pinged(10, 0.032)}, true, v1alpha1.ValidityValid},
		"a quarter":                        {[]func(map[results.Figure]float64){pinged(10, 0.021)}, true, v1alpha1.ValidityValid},
		"a small part":                     {[]func(map[results.Figure]float64){pinged(10, 0.019)}, false, v1alpha1.ValidityValid},
		"longer than the fastest request":  {[]func(map[results.Figure]float64){pinged(10, 0.080)}, false, v1alpha1.ValidityValid},
		"too few":                          {[]func(map[results.Figure]float64){pinged(2, 0.032)}, false, v1alpha1.ValidityValid},
		"a member that waits for its CPUs": {[]func(map[results.Figure]float64){pinged(10, 0.032), usedProcessors(19)}, false, v1alpha1.ValidityValid},
		"a client that was a limit":        {[]func(map[results.Figure]float64){pinged(10, 0.032)}, false, v1alpha1.ValidityClientBound},
		"none":                             {nil, false, v1alpha1.ValidityValid},
	} {
		t.Run(name, func(t *testing.T) {
			change := append([]func(map[results.Figure]float64){usedProcessors(1)}, tc.change...)
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(runtest.Flushed(0, change...)))})
			mean := s.Service.Values[spec.StatisticMean]
			mean.Duration += 30 * time.Millisecond
			s.Service.Values[spec.StatisticMean], s.Service.Min = mean, s.Service.Min+30*time.Millisecond
			got := ""
			for _, e := range Evidence(runtest.Puts(), s, &v1alpha1.Validity{Verdict: tc.clients}) {
				if e.Resource == v1alpha1.ResourceNetwork {
					got = e.Message
				}
			}
			if (got != "") != tc.want || tc.want && !strings.Contains(got, "The shortest ping to etcd-a took") {
				t.Errorf("got %q, wanted it named: %v", got, tc.want)
			}
		})
	}
}

// By Little's law: 2 + 1 pending proposals at 100 a second were pending for 30 ms each.
func TestProposalToApplied(t *testing.T) {
	const shown = "about 30ms from proposing a write to applying it"
	for name, tc := range map[string]struct {
		windows []*results.MemberWindow
		want    bool
	}{
		"both members":        {[]*results.MemberWindow{runtest.Flushed(200, pending(2, 20, 5)), runtest.Flushed(200, pending(1, 20, 5))}, true},
		"too few samples":     {[]*results.MemberWindow{runtest.Flushed(200, pending(2, 14, 5)), runtest.Flushed(200, pending(1, 15, 5))}, false},
		"mostly nothing":      {[]*results.MemberWindow{runtest.Flushed(200, pending(2, 20, 5)), runtest.Flushed(200, pending(1, 20, 4))}, false},
		"one is not known":    {[]*results.MemberWindow{runtest.Flushed(200, pending(3, 60, 60)), {Unknown: "gone"}}, false},
		"one without samples": {[]*results.MemberWindow{runtest.Flushed(200, pending(3, 60, 60)), runtest.Flushed(200)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, runtest.Told(tc.windows...))})
			if got := unexplainedMessage(t, s); strings.Contains(got, shown) != tc.want {
				t.Errorf("got %q, wanted it shown: %v", got, tc.want)
			}
		})
	}
}

func unexplainedMessage(t *testing.T, s results.Summary) string {
	t.Helper()
	for _, e := range Evidence(runtest.Puts(), s, &v1alpha1.Validity{}) {
		if e.Resource == v1alpha1.ResourceUnexplained {
			return e.Message
		}
	}
	t.Fatal("found no unexplained part")
	return ""
}

// What was read besides is listed, each as what it is.
func TestUnexplainedListsWhatWasRead(t *testing.T) {
	handled := took(results.TimerHandling, 100, 12)
	onNode := func(s *results.Snapshot) {
		runtest.Throttled(0)(s)
		for f, v := range map[results.ProcessFigure]float64{
			results.ProcessNodeBusyRatio: 0.6, results.ProcessNodeCPUPressureRatio: 0.4, results.ProcessNodeIOPressureRatio: 0.05,
		} {
			s.Process.Figures[f] = v
		}
	}
	s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, onNode, runtest.Told(runtest.Flushed(200, handled, pinged(10, 0.004))))})
	parts := []string{
		"flush 2ms", "etcd-a handled a write in 12ms on average", "the median ping to etcd-a took 4.4ms",
	}
	nodeParts := []string{"used 60 % of its processors", "during 40 % of the window, at least one task on that node waited for a processor"}
	for _, shares := range []bool{true, false} {
		s.SharesNode = shares
		got := unexplainedMessage(t, s)
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%q is missing in %q", part, got)
			}
		}
		for _, part := range nodeParts {
			if strings.Contains(got, part) != shares {
				t.Errorf("a shared node: %v, got %q", shares, got)
			}
		}
		if strings.Contains(got, "for a disk") {
			t.Errorf("a short wait for the disk is named: %q", got)
		}
	}
}

// A node that is full is named if a member runs on it, too.
func TestAFullNodeIsNamed(t *testing.T) {
	onNode := func(busy float64) func(*results.Snapshot) {
		return func(s *results.Snapshot) {
			runtest.Throttled(0)(s)
			s.Process.Figures[results.ProcessNodeBusyRatio] = busy
		}
	}
	onNodes := func(member string) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) {
			b.Status.Pods = []v1alpha1.PodStatus{{Index: 0, Node: "a"}}
			b.Status.Target = &v1alpha1.TargetStatus{Nodes: []string{member}}
		}
	}
	for name, tc := range map[string]struct {
		busy   float64
		member string
		want   []v1alpha1.Resource
	}{
		"full":         {0.95, "a", []v1alpha1.Resource{v1alpha1.ResourceCPU}},
		"half full":    {0.5, "a", nil},
		"another node": {0.95, "b", nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts()
			onNodes(tc.member)(b)
			s := results.Summarize([]*results.Snapshot{runtest.Measured(0, 100, onNode(tc.busy), runtest.Told(runtest.Flushed(0, usedProcessors(1))))})
			if diff := cmp.Diff(tc.want, resourcesOf(t, Evidence(b, s, &v1alpha1.Validity{}))); diff != "" {
				t.Errorf("evidence (-want +got):\n%s", diff)
			}
		})
	}
}
