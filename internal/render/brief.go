package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// BriefLines is the most lines that WriteBrief prints.
const BriefLines = 15

// WriteBrief prints the answer that a result gives, what it is based on, and what limits its value, in at most BriefLines
// lines. more says how to see the rest.
func WriteBrief(w io.Writer, b *v1alpha1.EtcdBenchmark, answer, more string) error {
	whole := []func(*table){
		func(t *table) { t.wrapped("", answer) },
		(*table).briefKeys, (*table).briefObjectives, (*table).briefWarnings, (*table).briefDoubt, (*table).briefTarget,
	}
	var out []string
	for _, part := range whole {
		out = append(out, cut(linesOf(b, part), BriefLines-1-len(out))...)
	}
	_, err := io.WriteString(w, strings.Join(out, "")+more+"\n")
	return err
}

// briefKeys says that keys may be left, and what to do.
func (t *table) briefKeys() {
	c := meta.FindStatusCondition(t.b.Status.Conditions, v1alpha1.ConditionCleaned)
	if c == nil || c.Reason != v1alpha1.ReasonKeysLeft {
		return
	}
	why, isAdvised := strings.CutSuffix(c.Message, benchmark.Leftover(t.b).String())
	if isAdvised {
		// The command is for copying, so it is not wrapped.
		t.line("keys left. %s", benchmark.Leftover(t.b))
	}
	t.wrapped("", "keys left: "+strings.TrimSpace(why))
}

// briefObjectives has the limits of a run that was judged.
func (t *table) briefObjectives() {
	if c := meta.FindStatusCondition(t.b.Status.Conditions, v1alpha1.ConditionPassed); t.b.Status.Summary == nil || len(t.b.Status.Objectives) == 0 || c == nil {
		return
	}
	t.judged()
}

// briefDoubt says why the numbers may not describe the target, and what to change.
func (t *table) briefDoubt() {
	s := t.b.Status.Summary
	if s == nil || s.Validity == nil || len(s.Validity.Reasons) == 0 {
		return
	}
	r := s.Validity.Reasons[0]
	t.wrapped("", "Load generator: "+r.Message+" "+r.Change)
}

func (t *table) briefWarnings() {
	if s := t.b.Status.Summary; s != nil && len(s.Warnings) > 0 {
		t.line("%s, which the details have", text.Plural(len(s.Warnings), "warning"))
	}
}

func (t *table) briefTarget() {
	if s := t.b.Status.Target; s != nil && len(s.Members) > 0 {
		t.line("Target: %s%s", versionText(t.b), loadedPart(t.b))
	}
}

// versionText is the store of a run with its version and its members.
func versionText(b *v1alpha1.EtcdBenchmark) string {
	store, _ := b.Spec.Target.Datastore.Store()
	s := b.Status.Target
	return fmt.Sprintf("%s %s, %s", store.Name, cmp.Or(s.Version, "of an unknown version"), text.Plural(len(s.Members), "member"))
}
