package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// WriteSessions writes a comparison of two suites as text.
func WriteSessions(out io.Writer, r *suite.Sessions) error {
	var page strings.Builder
	fmt.Fprintf(&page, "%s. %s\n\n", r.Verdict, headline(r.Verdict))
	sides := &grid{left: 2}
	sides.add("  baseline", sessionText(r.Baseline))
	sides.add("  candidate", sessionText(r.Candidate))
	if r.Schedule != "" {
		sides.add("  history", "schedule "+r.Schedule)
	}
	page.WriteString(sides.String() + "\n")
	g := grid{left: 2}
	g.add(append([]string{"CELL"}, ComparisonHeader...)...)
	for _, c := range r.Comparisons {
		g.add(append([]string{c.Cell}, ComparisonRow(c.Comparison)...)...)
	}
	page.WriteString(g.String())
	notes := messagesOf(r.Comparisons)
	if len(r.Left) > 0 {
		notes = append(notes, "Only one of the suites has these cells, so they are not compared: "+strings.Join(r.Left, ", ")+".")
	}
	if len(notes) > 0 {
		page.WriteString("\n" + bullets(notes))
	}
	_, err := io.WriteString(out, page.String())
	return err
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
