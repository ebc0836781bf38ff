package render

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Sessions shows a comparison of two suites.
func Sessions(r *suite.Sessions) *Compared {
	compared := comparedPage(r.Verdict, sessionText(r.Baseline), sessionText(r.Candidate))
	if r.Schedule != "" {
		compared.side("history", "schedule "+r.Schedule)
	}
	g := grid{left: 2}
	g.add(append([]string{"CELL"}, ComparisonHeader...)...)
	for _, c := range r.Comparisons {
		g.add(append([]string{c.Cell}, ComparisonRow(c.Comparison)...)...)
	}
	notes := messagesOf(r.Comparisons)
	if len(r.Left) > 0 {
		notes = append(notes, "Only one of the suites has these cells, so they are not compared: "+strings.Join(r.Left, ", ")+".")
	}
	return compared.finish(g, notes)
}

func sessionText(s suite.Session) string {
	when := ""
	if s.CompletionTime != nil {
		when = ", finished " + s.CompletionTime.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("suite %s (%s%s)", s.Suite, text.Plural(s.Rounds, "round"), when)
}

// baselineText says which suite the comparisons are with.
func baselineText(b *v1alpha1.StoredBaseline) string {
	out := "The baseline is the suite " + b.Suite + finishedAt(b.CompletionTime) + "."
	if b.Schedule != "" {
		out += " The history of the schedule " + b.Schedule + " says how much equal sessions differ."
	}
	return out
}

func finishedAt(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return ", which finished " + t.UTC().Format(time.RFC3339)
}
