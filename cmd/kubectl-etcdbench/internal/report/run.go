package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// runPage is the page of one run.
func runPage(d *Document, r Run) Page {
	run := r.Object
	p := Page{Title: "EtcdBenchmark " + fullName(run.Namespace, run.Name), Manifest: runManifest(run), Repeat: d.repeat(benchmarkFile, run.ObjectMeta, run, nil)}
	p.State, p.Verdict, p.Why = verdictOfRun(run)
	blocks := render.RunBlocks(run)
	p.Tiles, p.Client = tilesOfRun(run), generatorOf(run, blocks)
	p.Facts = append(labelled(of(blocks, render.PartHeader)), when(run)...)
	if p.Client != nil {
		p.Facts = slices.DeleteFunc(p.Facts, func(f Fact) bool { return f.Name == "valid" })
	}
	p.Objectives = of(blocks, render.PartObjectives)
	p.add(runSections("", r, blocks)...)
	return p
}

// runSections are the parts of a run. prefix makes their IDs unique in a page with several runs.
func runSections(prefix string, r Run, blocks []render.Block) []Section {
	run, d := r.Object, r.detail()
	course, courseLacks := coursePlots(prefix, run, courseOf(run, d))
	members, memberLacks := memberPlots(prefix, run, d)
	return []Section{
		{ID: prefix + "numbers", Title: "Latency and throughput", Blocks: slices.Concat(of(blocks, render.PartNumbers), courseLacks, render.LogBlocks(run.Status.Summary)), Plots: append(course, spectra(prefix, run, d)...)},
		{ID: prefix + "limits", Title: "Where the time went", Blocks: withoutFirstHeading(of(blocks, render.PartEvidence))},
		{ID: prefix + "members", Title: "Members of the target", Blocks: append(sideBySide(of(blocks, render.PartMembers)), memberLacks...), Plots: members},
		{ID: prefix + "requests", Title: "Requests", Blocks: of(blocks, render.PartRequests)},
	}
}

// withoutFirstHeading is for blocks whose heading is that of their section.
func withoutFirstHeading(blocks []render.Block) []render.Block {
	if len(blocks) > 0 && blocks[0].Heading {
		return blocks[1:]
	}
	return blocks
}

// runParts are the parts of a run that have something to show, in a page with several runs.
func runParts(id string, r Run, blocks []render.Block) []Section {
	first := []Section{
		{ID: id + "-objectives", Title: "Objectives", Blocks: of(blocks, render.PartObjectives)},
		{ID: id + "-validity", Title: "Load generator", Blocks: validity(blocks)},
	}
	return slices.DeleteFunc(append(first, runSections(id+"-", r, blocks)...), Section.isEmpty)
}

// verdictOfRun says in words how a run ended and what that means. Its state is that of the exit status.
func verdictOfRun(run *v1alpha1.EtcdBenchmark) (state State, words string, why []string) {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	ending := verdict.EndingOf(run)
	switch {
	case ending == verdict.Unfinished && run.Status.Summary == nil:
		return Open, "Not finished", nil
	case ending == verdict.Unfinished:
		return Open, "Not finished", []string{"The numbers are those so far."}
	case ending == verdict.Missed:
		return Bad, "An objective was missed", endingText(finished, passed)
	case ending == verdict.Failed && finished.Reason == v1alpha1.ReasonCompleted:
		return Bad, "No request succeeded", endingText(finished, passed)
	case finished.Reason != v1alpha1.ReasonCompleted:
		return states[ending], "Ended early: " + finished.Reason, endingText(finished, passed)
	case ending == verdict.Open:
		return Open, "No verdict", endingText(finished, passed)
	case ending == verdict.KeysLeft:
		return Bad, keysLeft, []string{verdict.LeftKeys(run.Status.Conditions).Message}
	case passed != nil:
		return Good, "All objectives were met", nil
	}
	return withoutObjectives(run)
}

// keysLeft says that a run or a suite left keys in its target.
const keysLeft = "Keys are left in the target"

// states are those of endings.
var states = map[verdict.Ending]State{verdict.Done: None, verdict.Missed: Bad, verdict.Failed: Bad, verdict.Open: Open, verdict.Unfinished: Open}

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

// withoutObjectives is the verdict of a completed run without objectives.
func withoutObjectives(run *v1alpha1.EtcdBenchmark) (State, string, []string) {
	if run.Status.Summary == nil {
		return Open, "Completed without a result", nil
	}
	if doubt := verdict.DoubtOf(run); doubt != "" {
		return Open, "Completed, but " + doubt, nil
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

// runManifest is the manifest of a run. A run that was stopped would be refused with that field.
func runManifest(run *v1alpha1.EtcdBenchmark) string {
	spec := run.Spec
	spec.Stop = false
	return manifest("EtcdBenchmark", run.ObjectMeta, spec)
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
