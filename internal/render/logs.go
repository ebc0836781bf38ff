package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// logs says how often members wrote lines that can explain the course, and when first.
func (t *table) logs(all []v1alpha1.MemberSummary) {
	counts, first := map[spec.LogKind]int64{}, map[spec.LogKind]string{}
	for _, l := range logLines(all) {
		if first[l.kind] == "" {
			first[l.kind] = fmt.Sprintf(" (from %s, %s)", text.Duration(l.at), l.member)
		}
	}
	for _, m := range all {
		for _, l := range m.Log {
			counts[l.Kind] += l.Count
		}
	}
	var said []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		said = append(said, fmt.Sprintf("%s %s%s", kind, text.Grouped(counts[kind]), first[kind]))
	}
	if len(said) > 0 {
		t.gap()
		t.sentence("logs: ", strings.Join(said, ", "))
	}
}

type logLine struct {
	at     time.Duration
	member string
	kind   spec.LogKind
	text   string
}

// logLines are the kept lines of all members by time.
func logLines(all []v1alpha1.MemberSummary) (out []logLine) {
	for _, m := range all {
		for _, l := range m.Log {
			for _, line := range l.Lines {
				out = append(out, logLine{time.Duration(line.AtMicroseconds) * time.Microsecond, shownName(m), l.Kind, line.Text})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b logLine) int { return cmp.Compare(a.at, b.at) })
	return out
}

// mostLogRows is how many lines of logs a page shows.
const mostLogRows = 60

// LogBlocks list what members wrote to their logs.
func LogBlocks(s *v1alpha1.Summary) []Block {
	if s == nil {
		return nil
	}
	all := logLines(s.Members)
	rows := [][]string{{"AFTER", "MEMBER", "KIND", "LINE"}}
	for _, l := range all[:min(len(all), mostLogRows)] {
		rows = append(rows, []string{text.Duration(l.at), l.member, string(l.kind), text.Printable(l.text)})
	}
	if len(rows) == 1 {
		return nil
	}
	intro := fmt.Sprintf("What the members wrote to their logs: up to %d lines of each kind for each member.", v1alpha1.MaxLogLines)
	if len(all) > mostLogRows {
		intro += fmt.Sprintf(" The JSON form has %s more.", text.Plural(len(all)-mostLogRows, "line"))
	}
	return []Block{{Text: intro}, {Rows: rows, Left: 4}}
}
