package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/search"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Search is a search for the highest rate, as -o json writes it.
type Search struct {
	Name   string        `json:"name"`
	Result search.Result `json:"result"`
	Probes []SearchProbe `json:"probes"`
}

// SearchProbe is one run of a search. Latencies are those of the slowest operation.
type SearchProbe struct {
	search.Probe
	P50Microseconds  int64 `json:"p50Microseconds"`
	P99Microseconds  int64 `json:"p99Microseconds"`
	P999Microseconds int64 `json:"p999Microseconds,omitempty"`
	MaxMicroseconds  int64 `json:"maxMicroseconds"`
	FailedRequests   int64 `json:"failedRequests"`
}

// AddProbe adds a finished run and returns its probe.
func AddProbe(s *Search, step search.Step, run *v1alpha1.EtcdBenchmark) search.Probe {
	p := SearchProbe{Probe: search.Probe{Step: step, Verdict: search.Unknown}}
	if sum := run.Status.Summary; sum != nil {
		p.Throughput = sum.ThroughputPerSecond.Float64()
		p.FailedRequests = sum.FailedRequests + sum.CensoredRequests
		for _, o := range sum.Operations {
			if l := o.Latency; l != nil && !o.Operation.IsEvent() && l.P99Microseconds >= p.P99Microseconds {
				p.P50Microseconds, p.P99Microseconds, p.MaxMicroseconds = l.P50Microseconds, l.P99Microseconds, l.MaxMicroseconds
				p.P999Microseconds = l.P999Microseconds
				if slices.Contains(l.Thin, spec.StatisticP999) {
					p.P999Microseconds = 0
				}
			}
		}
	}
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	switch {
	case passed == nil:
	case passed.Status == metav1.ConditionTrue:
		p.Verdict = search.Met
	case passed.Status == metav1.ConditionFalse:
		p.Verdict = search.Missed
		i := slices.IndexFunc(run.Status.Objectives, func(o v1alpha1.ObjectiveStatus) bool { return o.Result == v1alpha1.ObjectiveMissed })
		if i >= 0 {
			p.Limit = fmt.Sprintf("%s (wanted %s, got %s)", run.Status.Objectives[i].Name, run.Status.Objectives[i].Wanted, run.Status.Objectives[i].Got)
		}
	default:
		p.Limit = text.Shorten(passed.Reason+": "+passed.Message, text.MaxBytes)
	}
	s.Probes = append(s.Probes, p)
	return p.Probe
}

// StepText announces a probe.
func StepText(number int, s search.Step) string {
	if s.Role == search.Ceiling {
		return fmt.Sprintf("Probe %d: as fast as the target answers.", number)
	}
	return fmt.Sprintf("Probe %d: %s (%s).", number, text.PerSecond(s.PerSecond), strings.ToLower(string(s.Role)))
}

// WriteSearch prints the answer of a search and its probes by rate.
func WriteSearch(out io.Writer, s Search) error {
	t := table{}
	t.sentence("", fmt.Sprintf("%s: %s. %s", s.Name, s.Result.State, answer(s.Result)))
	if s.Result.Drifted {
		t.sentence("", "At the end, the lowest rate of the search no longer met the objectives: the target has changed meanwhile. Repeat the search.")
	}
	g := grid{left: 2}
	g.add("PROBE", "ROLE", "ASKED", "ACHIEVED", "P50", "P99", "P99.9", "MAX", "FAILED", "OBJECTIVES")
	probes := make([][]string, len(s.Probes))
	order := make([]int, len(s.Probes))
	for i, p := range s.Probes {
		order[i] = i
		asked, verdict := text.PerSecond(p.PerSecond), string(p.Verdict)
		if p.Role == search.Ceiling {
			asked, verdict = "–", "–"
		}
		if name, _, _ := strings.Cut(p.Limit, " "); p.Verdict == search.Missed && name != "" {
			verdict += ": " + name
		}
		probes[i] = []string{
			fmt.Sprint(i + 1), string(p.Role), asked, text.RateOf(p.Throughput).String(), microsOrThin(p.P50Microseconds), microsOrThin(p.P99Microseconds),
			microsOrThin(p.P999Microseconds), microsOrThin(p.MaxMicroseconds), text.Grouped(p.FailedRequests), verdict,
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Probes[a].PerSecond, s.Probes[b].PerSecond) })
	for _, i := range order {
		g.add(probes[i]...)
	}
	t.section(g)
	_, err := out.Write(t.out.Bytes())
	return err
}

func microsOrThin(micros int64) string {
	if micros == 0 {
		return thin
	}
	return text.Micros(micros)
}

func answer(r search.Result) string {
	above := ""
	if r.FirstMissed > 0 {
		above = fmt.Sprintf(" %s misses %s.", text.PerSecond(r.FirstMissed), r.Limit)
	}
	switch r.State {
	case search.Found:
		return fmt.Sprintf("%s meets all objectives, and %d of %d further runs confirm it.", text.PerSecond(r.PerSecond), r.Confirmed, r.Tried) + above
	case search.AtLeast:
		return fmt.Sprintf("%s meets all objectives, and %d of %d further runs confirm it. No higher rate was allowed: raise --max-rate.", text.PerSecond(r.PerSecond), r.Confirmed, r.Tried)
	case search.BelowMinimum:
		return "No rate that was allowed meets all objectives: lower --min-rate, or see which objective is missed." + above
	case search.Unstable:
		return "No rate meets all objectives reliably: a rate met them once and missed them later, or a higher rate met and a lower one missed. Use longer probes, or a quieter machine." + above
	}
	known := ""
	if r.PerSecond > 0 {
		known = fmt.Sprintf(" The highest rate that met them is %s, without confirmation.", text.PerSecond(r.PerSecond))
	}
	return fmt.Sprintf("The search could not decide: %s.", strings.TrimSuffix(r.Limit, ".")) + known
}
