package benchmark

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// tableWidth is the number of columns that a table's sentences keep to.
const tableWidth = 100

// WriteTable prints the result of b for people: how the run ended, one row per
// kind of request in the columns of etcd's performance page, the percentiles,
// the course of the window, the requests by phase, and whatever went wrong. A
// figure that was not measured is shown as "unknown" or left out, never as
// zero. timeline may be nil.
func WriteTable(w io.Writer, b *v1alpha1.EtcdBenchmark, timeline *Timeline) error {
	t := table{b: b}
	t.header()
	if b.Status.Summary != nil {
		t.performance()
		t.latencies()
		t.watch()
		t.course(timeline)
		t.disturbances()
		t.requests()
		t.errors()
		t.members()
		t.evidence()
		t.clients()
	} else {
		t.requests()
	}
	t.objectives()
	t.warnings()
	t.footer()
	_, err := w.Write(t.out.Bytes())
	return err
}

// table collects its text in memory, where writing cannot fail.
type table struct {
	b   *v1alpha1.EtcdBenchmark
	out bytes.Buffer
}

func (t *table) line(format string, args ...any) { fmt.Fprintf(&t.out, format+"\n", args...) }

// section prints a grid after an empty line.
func (t *table) section(g grid) {
	t.line("")
	t.out.WriteString(g.String())
}

// sentence prints text of any length, wrapped and hanging behind a label.
func (t *table) sentence(label, text string) {
	indent := strings.Repeat(" ", len(label))
	for i, line := range wrap(text, tableWidth-len(label)) {
		if i > 0 {
			label = indent
		}
		t.line("%s%s", label, line)
	}
}

func (t *table) header() {
	load := t.b.Resolved().Load
	t.line("%s", strings.TrimPrefix(t.b.Namespace+"/"+t.b.Name, "/"))
	t.sentence("  result  ", t.outcome())
	t.sentence("  load    ", strings.Join([]string{
		plural(int64(load.Pods), "pod"), plural(int64(load.Connections), "connection") + t.carriers(),
		plural(int64(load.Clients), "client"), loopText(load), string(load.Transport),
	}, ", "))
	if text := t.target(); text != "" {
		t.sentence("  target  ", text)
	}
	if s := t.b.Status.Summary; s != nil && s.Validity != nil {
		t.sentence("  client  ", clientText(s.Validity))
	}
}

// outcome says how the run ended and, unless it simply completed, why.
func (t *table) outcome() string {
	c := meta.FindStatusCondition(t.b.Status.Conditions, v1alpha1.ConditionFinished)
	if c == nil {
		return v1alpha1.StagePending
	}
	text := c.Reason
	if s := t.b.Status.Summary; s != nil {
		text += ", measured for " + Micros(s.DurationMicroseconds)
	}
	if s := t.b.Status.Summary; s != nil && s.Partial {
		text += ", partial"
	}
	if c.Message != "" && c.Reason != v1alpha1.ReasonCompleted {
		text += ". " + c.Message
	}
	return text
}

func (t *table) target() string {
	s := t.b.Status.Target
	if s == nil || s.ClusterID == "" {
		return ""
	}
	return fmt.Sprintf("etcd %s, %s, leader %s, load on %s, cluster %s",
		s.Version, plural(int64(len(s.Members)), "member"), s.Leader, membersText(t.b.Spec.Target.Members), s.ClusterID)
}

func (t *table) errors() {
	for _, op := range t.b.Status.Summary.Operations {
		for _, e := range op.Errors {
			t.line("%s failed with %s: %s", op.Operation, e.Code, results.Grouped(e.Count))
		}
		if op.Lost > 0 {
			t.sentence("", fmt.Sprintf("%s lost to another client: %s of %s", op.Operation, results.Grouped(op.Lost), results.Grouped(op.Succeeded)))
		}
		if op.Attempts > 0 {
			t.sentence("", fmt.Sprintf("%s attempts per commit: %.3f", op.Operation, float64(op.AttemptsPerThousandCommits)/1000))
		}
		if op.Late != nil && *op.Late > 0 {
			t.sentence("", fmt.Sprintf("%s sent late, by more than 250 µs and a tenth of the latency's p99: %s of %s measured",
				op.Operation, results.Grouped(*op.Late), results.Grouped(op.Succeeded+op.Failed+op.Censored)))
		}
		if op.Censored > 0 {
			t.sentence("", fmt.Sprintf("%s unanswered or still owed at the end: %s", op.Operation, results.Grouped(op.Censored)))
		}
	}
}

func (t *table) objectives() {
	if len(t.b.Status.Objectives) == 0 {
		return
	}
	g := grid{left: 2}
	g.add("OBJECTIVE", "RESULT", "WANTED", "GOT")
	for _, o := range t.b.Status.Objectives {
		g.add(o.Name, strings.ToUpper(string(o.Result)), o.Wanted, o.Got)
	}
	t.section(g)
	for _, o := range t.b.Status.Objectives {
		if o.Message != "" {
			t.sentence("  "+o.Name+": ", o.Message)
		}
	}
	if c := meta.FindStatusCondition(t.b.Status.Conditions, v1alpha1.ConditionPassed); c != nil && c.Status == metav1.ConditionUnknown {
		t.sentence("  no verdict: ", c.Message)
	}
}

func (t *table) warnings() {
	s := t.b.Status.Summary
	if s == nil || len(s.Warnings) == 0 {
		return
	}
	t.line("")
	for _, w := range s.Warnings {
		t.sentence("warning: ", w)
	}
}

// footer speaks of what is left behind, and only if something may be.
func (t *table) footer() {
	c := meta.FindStatusCondition(t.b.Status.Conditions, v1alpha1.ConditionCleaned)
	if c == nil || c.Reason != v1alpha1.ReasonKeysLeft {
		return
	}
	t.line("")
	t.sentence("keys left: ", c.Message)
}
