package report

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
)

// repeatRun is how to repeat a run.
const repeatRun = "kubectl etcdbench run -f benchmark.yaml --generate-name"

// runPage is the page of one run.
func runPage(r Run) Page {
	run := r.Object
	p := Page{Title: "EtcdBenchmark " + fullName(run.Namespace, run.Name), Manifest: manifest("EtcdBenchmark", run.ObjectMeta, run.Spec), Command: repeatRun}
	p.State, p.Verdict, p.Why = verdictOfRun(run)
	blocks := render.RunBlocks(run)
	for _, b := range of(blocks, render.PartHeader) {
		if b.Label != "" {
			p.Facts = append(p.Facts, Fact{b.Label, b.Text})
		}
	}
	p.Facts = append(p.Facts, when(run)...)
	p.add(runSections("", r, blocks)...)
	return p
}

// runSections are the parts of a run. prefix makes their IDs unique in a page with several runs.
func runSections(prefix string, r Run, blocks []render.Block) []Section {
	run, d := r.Object, r.detail()
	course := courseOf(run, d)
	return []Section{
		{ID: prefix + "objectives", Title: "Objectives", Blocks: of(blocks, render.PartObjectives)},
		{ID: prefix + "numbers", Title: "Latency and throughput", Blocks: of(blocks, render.PartNumbers), Plots: spectra(prefix, run, d)},
		{ID: prefix + "course", Title: "Over time", Plots: coursePlots(prefix, run, course)},
		{ID: prefix + "limits", Title: "What was the limit", Blocks: append(of(blocks, render.PartLimits), of(blocks, render.PartEvidence)...)},
		{ID: prefix + "members", Title: "Members of the target", Blocks: of(blocks, render.PartMembers), Plots: memberPlots(prefix, run, d)},
		{ID: prefix + "requests", Title: "Requests", Blocks: of(blocks, render.PartRequests)},
		{ID: prefix + "warnings", Title: "Warnings", Blocks: of(blocks, render.PartWarnings)},
	}
}

// verdictOfRun says in words how a run ended and what that means.
func verdictOfRun(run *v1alpha1.EtcdBenchmark) (state State, words string, why []string) {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	switch {
	case finished == nil || finished.Status != metav1.ConditionTrue:
		return Open, "Not finished", []string{"The numbers are those so far."}
	case passed != nil && passed.Status == metav1.ConditionFalse:
		return Bad, "An objective was missed", endingText(finished, passed)
	case finished.Reason != v1alpha1.ReasonCompleted:
		return stateOfEnd(finished.Reason), "Ended early: " + finished.Reason, endingText(finished, passed)
	case passed == nil:
		return doubtful(run)
	case passed.Status == metav1.ConditionTrue:
		return Good, "All objectives were met", nil
	}
	return Open, "No verdict", endingText(finished, passed)
}

func stateOfEnd(reason string) State {
	if reason == v1alpha1.ReasonMissedEarly || reason == v1alpha1.ReasonStopped || reason == v1alpha1.ReasonPartlyCompleted {
		return Open
	}
	return Bad
}

// endingText are the messages of the conditions.
func endingText(finished, passed *metav1.Condition) (out []string) {
	if finished.Reason != v1alpha1.ReasonCompleted && finished.Message != "" {
		out = append(out, finished.Message)
	}
	if passed != nil && passed.Message != "" {
		out = append(out, passed.Message)
	}
	return out
}

// doubtful is the verdict of a completed run without objectives.
func doubtful(run *v1alpha1.EtcdBenchmark) (State, string, []string) {
	s := run.Status.Summary
	switch {
	case s == nil:
		return Open, "Completed without a result", nil
	case s.Validity != nil && s.Validity.Verdict == v1alpha1.ValidityClientBound:
		return Open, "Completed, but the load generator was a limit", []string{"The target might have done better: see what was the limit."}
	case s.Saturated != nil:
		return Open, "Completed, but the target did not keep up with the rate", []string{s.Saturated.Message}
	}
	return None, "Completed", []string{"The run has no objectives, so nothing was judged."}
}

// when has the times of a run in UTC.
func when(run *v1alpha1.EtcdBenchmark) (out []Fact) {
	if s := run.Status.Summary; s != nil && s.WindowStart != nil && s.WindowEnd != nil {
		out = append(out, Fact{"measured", utc(s.WindowStart.Time) + " to " + utc(s.WindowEnd.Time)})
	}
	return out
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func fullName(namespace, name string) string {
	return strings.TrimPrefix(namespace+"/"+name, "/")
}

// manifest is what a user would apply to repeat an object.
func manifest(kind string, m metav1.ObjectMeta, spec any) string {
	metadata := map[string]any{"name": m.Name}
	if m.Namespace != "" {
		metadata["namespace"] = m.Namespace
	}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": spec,
	})
	if err != nil {
		return fmt.Sprintf("# the manifest cannot be written: %v\n", err)
	}
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(data))
}
