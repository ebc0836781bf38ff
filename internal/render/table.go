package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// tableWidth is the number of columns that a table's sentences keep to.
const tableWidth = 100

// WriteTable prints the result of b for people: how the run ended, one row per
// kind of request in the columns of etcd's performance page, the percentiles,
// the course of the window, the requests by phase, and whatever went wrong. A
// figure that was not measured is shown as "unknown" or left out, never as
// zero. timeline may be nil.
func WriteTable(w io.Writer, b *v1alpha1.EtcdBenchmark, timeline *benchmark.Timeline) error {
	t := table{b: b, run: benchmark.Run(b)}
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
	run workload.Run
	out bytes.Buffer
}

func (t *table) line(format string, args ...any) { fmt.Fprintf(&t.out, format+"\n", args...) }

// section prints a grid after an empty line.
func (t *table) section(g grid) {
	t.line("")
	t.out.WriteString(g.String())
}

// sentence prints text of any length, wrapped and hanging behind a label.
func (t *table) sentence(label, sentence string) {
	indent := strings.Repeat(" ", len(label))
	for i, line := range text.Wrap(sentence, tableWidth-len(label)) {
		if i > 0 {
			label = indent
		}
		t.line("%s%s", label, line)
	}
}

func (t *table) header() {
	load := t.run.Load
	t.line("%s", strings.TrimPrefix(t.b.Namespace+"/"+t.b.Name, "/"))
	t.sentence("  result  ", t.outcome())
	t.sentence("  load    ", strings.Join([]string{
		text.Plural(load.Pods, "pod"), text.Plural(load.Connections, "connection") + t.carriers(),
		text.Plural(load.Clients, "client"), loopText(load), string(load.Transport),
	}, ", "))
	if target := t.target(); target != "" {
		t.sentence("  target  ", target)
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
	out := c.Reason
	if s := t.b.Status.Summary; s != nil {
		out += ", measured for " + text.Micros(s.DurationMicroseconds)
	}
	if s := t.b.Status.Summary; s != nil && s.Partial {
		out += ", partial"
	}
	if c.Message != "" && c.Reason != v1alpha1.ReasonCompleted {
		out += ". " + c.Message
	}
	return out
}

func (t *table) target() string {
	s := t.b.Status.Target
	if s == nil || s.ClusterID == "" {
		return ""
	}
	store, _ := t.b.Spec.Target.Datastore.Store()
	return fmt.Sprintf("%s %s, %s, leader %s, load on %s, cluster %s",
		store.Name, s.Version, text.Plural(len(s.Members), "member"), s.Leader, membersText(t.b.Spec.Target.Members), s.ClusterID)
}

func (t *table) errors() {
	for _, op := range t.b.Status.Summary.Operations {
		for _, e := range op.Errors {
			t.line("%s failed with %s: %s", op.Operation, e.Code, text.Grouped(e.Count))
		}
		if op.Lost > 0 {
			t.sentence("", fmt.Sprintf("%s lost to another client: %s of %s", op.Operation, text.Grouped(op.Lost), text.Grouped(op.Succeeded)))
		}
		if op.Attempts > 0 {
			t.sentence("", fmt.Sprintf("%s attempts per commit: %.3f", op.Operation, op.AttemptsPerCommit.Float64()))
		}
		if op.Late != nil && *op.Late > 0 {
			t.sentence("", fmt.Sprintf("%s sent late, by more than 250 µs and a tenth of the latency's p99: %s of %s measured",
				op.Operation, text.Grouped(*op.Late), text.Grouped(op.Succeeded+op.Failed+op.Censored)))
		}
		if op.Censored > 0 {
			t.sentence("", fmt.Sprintf("%s unanswered or still owed at the end: %s", op.Operation, text.Grouped(op.Censored)))
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

// clientText says in a line whether the client shows in the numbers.
func clientText(v *v1alpha1.Validity) string {
	var facts []string
	fact := func(known bool, format string, args ...any) {
		if known {
			facts = append(facts, fmt.Sprintf(format, args...))
		}
	}
	fact(v.CPUPercent != nil, "%d %% of its processors used", deref(v.CPUPercent))
	fact(v.GarbageCollectionPercent != nil, "%d %% of that for garbage collection", deref(v.GarbageCollectionPercent))
	fact(v.GoroutineDelayP99Microseconds != nil, "work waited %s for a thread (p99)", text.Micros(deref(v.GoroutineDelayP99Microseconds)))
	fact(v.Shared == v1alpha1.SharedNode, "on a node of a member")
	fact(v.Shared == v1alpha1.SharedProcess, "in the members' process")
	out := map[v1alpha1.ValidityVerdict]string{
		v1alpha1.ValidityValid:       "not the limit",
		v1alpha1.ValidityClientBound: "WAS ITSELF A LIMIT, see below",
		v1alpha1.ValidityUnknown:     "not known whether it was the limit, see below",
	}[v.Verdict]
	if len(facts) > 0 {
		out += ": " + strings.Join(facts, ", ")
	}
	return out
}

// clients prints why the client shows in the numbers, and what to change.
func (t *table) clients() {
	v := t.b.Status.Summary.Validity
	if v == nil || len(v.Reasons) == 0 {
		return
	}
	t.line("")
	if v.Verdict == v1alpha1.ValidityClientBound {
		t.line("WHY THE CLIENT WAS A LIMIT")
	} else {
		t.line("WHY THE CLIENT COULD NOT BE JUDGED")
	}
	for _, r := range v.Reasons {
		t.sentence("  "+string(r.Cause)+": ", r.Message)
		t.sentence("  "+strings.Repeat(" ", len(r.Cause))+"  ", r.Change)
	}
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
