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
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// TableWidth is the width of a table that goes to a file, and the maximum width of its sentences, in columns.
const TableWidth = 100

// WriteTable prints the result of b for people: how the run ended, one row per kind of request with the columns of
// etcd's performance page, the percentiles, the course of the window, the requests by phase, and all problems. A figure
// that was not measured is shown as "unknown" or omitted, never as zero. The course may be nil.
func WriteTable(w io.Writer, b *v1alpha1.EtcdBenchmark, course *results.Course) error {
	t := runTable(b, course)
	_, err := io.WriteString(w, t.text.String())
	return err
}

// RunBlocks returns what WriteTable prints, without the course.
func RunBlocks(b *v1alpha1.EtcdBenchmark) []Block { return runTable(b, nil).blocks }

func runTable(b *v1alpha1.EtcdBenchmark, course *results.Course) *table {
	t := newTable(b)
	t.begin(PartHeader)
	t.header()
	t.client()
	if b.Status.Summary != nil {
		t.begin(PartNumbers)
		t.performance()
		t.latencies()
		t.watch()
		t.burst()
		t.begin(PartCourse)
		t.course(course)
		t.begin(PartNumbers)
		t.disturbances()
		t.begin(PartRequests)
		t.requests()
		t.begin(PartNumbers)
		t.errors()
		t.pauses()
		t.begin(PartMembers)
		t.members()
		t.disks(len(t.b.Status.Pods))
		t.begin(PartEvidence)
		t.evidence()
		t.begin(PartLimits)
		t.limits()
	} else {
		t.begin(PartRequests)
		t.requests()
	}
	t.begin(PartObjectives)
	t.objectives()
	t.begin(PartWarnings)
	t.warnings()
	t.footer()
	return t
}

func newTable(b *v1alpha1.EtcdBenchmark) *table { return &table{b: b, run: benchmark.Run(b)} }

// table is the page of a run.
type table struct {
	page
	b   *v1alpha1.EtcdBenchmark
	run workload.Run
}

func (t *table) header() {
	load := t.run.Load
	t.line("%s", strings.TrimPrefix(t.b.Namespace+"/"+t.b.Name, "/"))
	t.sentence("  result  ", t.outcome())
	t.sentence("  load    ", strings.Join([]string{
		text.Plural(load.Pods, "pod"), text.Plural(load.Connections, "connection") + t.carriers(),
		text.Plural(load.Clients, "client"), t.shape(), "transport " + string(load.Transport),
	}, ", "))
	if target := t.target(); target != "" {
		t.sentence("  target  ", target)
	}
	if s := t.b.Status.Summary; s != nil && s.Validity != nil {
		t.sentence("  valid   ", validText(s))
	}
}

// client says on what the client pods ran.
func (t *table) client() {
	if machine := t.machine(); machine != "" {
		t.sentence("  client  ", machine)
	}
}

// machine is what the client pods ran on, and the fingerprint of the run; empty if it is not known.
func (t *table) machine() string {
	s := t.b.Status.Summary
	if s == nil || s.Fingerprint == nil {
		return ""
	}
	parts := []string{compare.ClientText(*s.Fingerprint)}
	if kernels := s.Fingerprint.Kernels; len(kernels) > 0 {
		parts = append(parts, "kernel "+strings.Join(kernels, " and "))
	}
	parts = append(parts, "fingerprint "+s.Fingerprint.ID)
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// outcome is how the run ended, with the reason unless it completed.
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
		out += ", partial result"
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
	return fmt.Sprintf("%s, leader %s%s, cluster ID %s", versionText(t.b), cmp.Or(s.Leader, "unknown"), loadedPart(t.b), s.ClusterID)
}

func (t *table) errors() {
	for _, op := range t.b.Status.Summary.Operations {
		for _, e := range op.Errors {
			t.sentence("", text.WithExample(fmt.Sprintf("%s failed with %s: %s", op.Operation, e.Code, text.Grouped(e.Count)), e.Example))
		}
		if op.Lost > 0 {
			t.sentence("", fmt.Sprintf("%s changed nothing because another client was faster: %s of %s successful requests", op.Operation, text.Grouped(op.Lost), text.Grouped(op.Succeeded)))
		}
		if op.Attempts > 0 {
			t.sentence("", fmt.Sprintf("%s attempts per commit: %.3f", op.Operation, op.AttemptsPerCommit.Float64()))
		}
		if op.Late != nil && *op.Late > 0 {
			limit := "250 µs, and by more than a tenth of the median service time"
			if op.Operation.IsTask() {
				limit = "a tenth of the time until the last process"
			}
			t.sentence("", fmt.Sprintf("%s: %s of %s measured requests were sent late (by more than %s)",
				op.Operation, text.Grouped(*op.Late), text.Grouped(op.Succeeded+op.Failed+op.Censored), limit))
		}
		if op.Censored > 0 {
			t.sentence("", fmt.Sprintf("%s: %s had no answer when the run ended, or were due and not sent", op.Operation, text.Plural(op.Censored, "request")))
		}
	}
}

// pauses says how often clients paused because their requests failed at once.
func (t *table) pauses() {
	if s := t.b.Status.Summary; s.ClientPauses > 0 {
		t.sentence("", fmt.Sprintf("clients paused %s, for %s in total, because their requests had failed at once", text.Plural(s.ClientPauses, "time"), text.Micros(s.ClientPausesMicroseconds)))
	}
}

func (t *table) objectives() {
	if len(t.b.Status.Objectives) == 0 {
		return
	}
	t.judged()
	for _, o := range t.b.Status.Objectives {
		if o.Message != "" {
			t.sentence("  "+o.Name+": ", o.Message)
		}
	}
	if c := meta.FindStatusCondition(t.b.Status.Conditions, v1alpha1.ConditionPassed); c != nil && c.Status == metav1.ConditionUnknown {
		t.sentence("  no verdict: ", c.Message)
	}
}

// judged is the table of the objectives.
func (t *table) judged() {
	g := grid{left: 2}
	g.add("OBJECTIVE", "RESULT", "WANTED", "GOT")
	for _, o := range t.b.Status.Objectives {
		g.add(o.Name, strings.ToUpper(string(o.Result)), o.Wanted, o.Got)
	}
	t.section(g)
}

func (t *table) warnings() {
	s := t.b.Status.Summary
	if s == nil || len(s.Warnings) == 0 {
		return
	}
	t.gap()
	for _, w := range s.Warnings {
		t.sentence("warning: ", w)
	}
}

// footer shows how to delete the keys of the run, if some may be left in the target.
func (t *table) footer() {
	c := meta.FindStatusCondition(t.b.Status.Conditions, v1alpha1.ConditionCleaned)
	if c == nil || c.Reason != v1alpha1.ReasonKeysLeft {
		return
	}
	t.gap()
	// The command is for copying, so it is not wrapped.
	command := benchmark.Leftover(t.b).Command
	before, after, found := strings.Cut(c.Message, command)
	t.sentence("keys left: ", strings.TrimSpace(before))
	if found {
		t.line("%s", command)
	}
	if after = strings.TrimSpace(after); after != "" {
		t.sentence("", after)
	}
}

// validText says whether the numbers describe the target under the requested load.
func validText(s *v1alpha1.Summary) string {
	out := map[v1alpha1.ValidityVerdict]string{
		v1alpha1.ValidityValid:       "yes, the load generator was not a limit.",
		v1alpha1.ValidityClientBound: "NOT FULLY, the load generator was itself a limit, see below.",
		v1alpha1.ValidityUnknown:     "not known, because the load generator could not be judged, see below.",
	}[s.Validity.Verdict]
	if isOnlyLate(s.Validity) {
		out = "yes, but the load generator sent requests late, see below."
		if added := latestP99(s.Operations); added > 0 {
			out = fmt.Sprintf("yes, but the load generator added up to %s (p99) to the latency, see below.", text.Micros(added))
		}
	}
	if s.Saturated != nil {
		out += " The target DID NOT KEEP UP with the rate, see below."
	}
	if facts := generatorFacts(s); len(facts) > 0 {
		out += " The load generator " + strings.Join(facts, ", ") + "."
	}
	return out
}

// Generator says in a few words whether the load generator was a limit, and in a sentence what it used.
func Generator(s *v1alpha1.Summary) (words, used string) {
	words = map[v1alpha1.ValidityVerdict]string{
		v1alpha1.ValidityValid: "not a limit", v1alpha1.ValidityClientBound: "a limit", v1alpha1.ValidityUnknown: "not judged",
	}[s.Validity.Verdict]
	if isOnlyLate(s.Validity) {
		words = "sent requests late"
	}
	if facts := generatorFacts(s); len(facts) > 0 {
		used = "It " + strings.Join(facts, ", ") + "."
	}
	return words, used
}

// isOnlyLate reports whether lateness is the only way in which the load generator was a limit.
func isOnlyLate(v *v1alpha1.Validity) bool {
	return v.Verdict == v1alpha1.ValidityClientBound && len(v.Reasons) > 0 && v.Reasons[0].Cause == v1alpha1.CauseLate
}

// generatorFacts are the figures of the load generator, as predicates.
func generatorFacts(s *v1alpha1.Summary) (facts []string) {
	v := s.Validity
	if v.CPUPercent != nil {
		used := fmt.Sprintf("used %d %% of its CPU", *v.CPUPercent)
		if v.GarbageCollectionPercent != nil {
			used += fmt.Sprintf(" (%d %% of that for garbage collection)", *v.GarbageCollectionPercent)
		}
		facts = append(facts, used)
	}
	if v.DelayPerRequestMicroseconds != nil {
		facts = append(facts, fmt.Sprintf("waited %s per request for a processor", text.Micros(*v.DelayPerRequestMicroseconds)))
	}
	if added := latestP99(s.Operations); added > 0 && !isOnlyLate(v) {
		facts = append(facts, fmt.Sprintf("sent requests up to %s late (p99)", text.Micros(added)))
	}
	if v.Shared == v1alpha1.SharedNode {
		facts = append(facts, "shared a node with a member")
	}
	return facts
}

// latestP99 is the greatest 99th percentile of lateness, in microseconds.
func latestP99(operations []v1alpha1.OperationSummary) (micros int64) {
	for _, op := range operations {
		if op.Lateness != nil && op.Lateness.ErrorBoundPerMillion > 0 && !slices.Contains(op.Lateness.Thin, spec.StatisticP99) {
			micros = max(micros, op.Lateness.P99Microseconds)
		}
	}
	return micros
}

// limits prints why the load generator or the target was or may have been the limit, and what to change.
func (t *table) limits() {
	s := t.b.Status.Summary
	if s.Saturated != nil {
		t.heading("WHY THE TARGET DID NOT KEEP UP")
		t.sentence("  ", s.Saturated.Message)
		t.sentence("  ", s.Saturated.Change)
	}
	v := s.Validity
	if v == nil || len(v.Reasons) == 0 {
		return
	}
	switch {
	case isOnlyLate(v):
		t.heading("HOW LATE THE LOAD GENERATOR WAS")
	case v.Verdict == v1alpha1.ValidityClientBound:
		t.heading("WHY THE LOAD GENERATOR WAS A LIMIT")
	default:
		t.heading("WHY THE LOAD GENERATOR COULD NOT BE JUDGED")
	}
	for _, r := range v.Reasons {
		label := "  " + string(r.Cause) + ": "
		t.sentence(label, r.Message)
		t.further(len(label), r.Change)
	}
}
