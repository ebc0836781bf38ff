package benchmark

import (
	"fmt"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// disturbanceSummaries are what came of the disturbances that b asks for. One
// that never was is told, too.
func disturbanceSummaries(b *v1alpha1.EtcdBenchmark, all map[results.DisturbanceKind]*results.Disturbance) []v1alpha1.DisturbanceSummary {
	var out []v1alpha1.DisturbanceSummary
	for _, wanted := range b.Spec.Disturbances {
		summary := v1alpha1.DisturbanceSummary{Type: wanted.Type}
		if d := all[results.DisturbanceKind(wanted.Type)]; d != nil && d.Count > 0 {
			summary = disturbanceSummary(wanted.Type, d)
		}
		out = append(out, summary)
	}
	return out
}

func disturbanceSummary(t v1alpha1.DisturbanceType, d *results.Disturbance) v1alpha1.DisturbanceSummary {
	out := v1alpha1.DisturbanceSummary{
		Type: t, Count: int64(d.Count), Failed: int64(d.Failed), LeftOut: int64(d.LeftOut), Problem: results.Shorten(d.Problem, maxMessage),
		MeanMicroseconds: toMicros(d.Took / time.Duration(d.Count)), MaxMicroseconds: toMicros(d.Longest),
	}
	for _, m := range d.Marks {
		out.Marks = append(out.Marks, v1alpha1.DisturbanceMark{
			AfterMicroseconds: toMicros(m.After), TookMicroseconds: toMicros(m.Took), Member: results.Shorten(m.Member, maxMarkMember),
		})
	}
	return out
}

// disturbanceWarnings say which disturbances did not happen that b asks for.
func disturbanceWarnings(b *v1alpha1.EtcdBenchmark, s results.Summary) []string {
	var out []string
	for _, wanted := range b.Spec.Disturbances {
		switch d := s.Disturbances[results.DisturbanceKind(wanted.Type)]; {
		case d == nil || d.Count == 0:
			out = append(out, fmt.Sprintf("client pod 0 told of no disturbance of type %s: the first was due %d s after the start of the measured window, which lasted %s",
				wanted.Type, wanted.EverySeconds, Micros(toMicros(s.Length))))
		case d.LeftOut > 0:
			out = append(out, fmt.Sprintf("of type %s, %s left out, because the one before still went on: one took up to %s, and everySeconds is %d",
				wanted.Type, plural(int64(d.LeftOut), "disturbance"), Micros(toMicros(d.Longest)), wanted.EverySeconds))
		}
	}
	return out
}

// disturbances prints what was done beside the load.
func (t *table) disturbances() {
	all := t.b.Status.Summary.Disturbances
	if len(all) == 0 {
		return
	}
	g := grid{left: 1}
	g.add("DISTURBANCE", "COUNT", "FAILED", "LEFT OUT", "MEAN", "LONGEST")
	for _, d := range all {
		mean, longest := none, none
		if d.Count > 0 {
			mean, longest = Micros(d.MeanMicroseconds), Micros(d.MaxMicroseconds)
		}
		g.add(string(d.Type), results.Grouped(d.Count), results.Grouped(d.Failed), results.Grouped(d.LeftOut), mean, longest)
	}
	t.section(g)
	for _, d := range all {
		if d.Problem != "" {
			t.sentence("  "+string(d.Type)+": ", d.Problem)
		}
	}
}

const (
	noMark    = '·'
	lastsMark = '─'
)

// markRow draws when the disturbances of one type were, in intervals of this
// length: their first letter where one began, and a line while it went on. It
// is empty if none was.
func markRow(d v1alpha1.DisturbanceSummary, interval time.Duration, intervals int) string {
	row := slices.Repeat([]rune{noMark}, intervals)
	drawn := false
	draw := func(at int, r rune) {
		if at < intervals {
			row[at], drawn = r, true
		}
	}
	for _, m := range d.Marks {
		began := time.Duration(m.AfterMicroseconds) * time.Microsecond
		ended := began + time.Duration(m.TookMicroseconds)*time.Microsecond
		for at := int(began/interval) + 1; at <= min(int(ended/interval), intervals-1); at++ {
			draw(at, lastsMark)
		}
		draw(int(began/interval), []rune(d.Type)[0])
	}
	if !drawn {
		return ""
	}
	return string(row)
}
