package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// runsPage shows several runs beside each other. It judges nothing: a comparison needs rounds.
func runsPage(d *Document) Page {
	runs := d.Runs
	p := Page{
		Title: text.Plural(len(runs), "run"), State: None, Verdict: "Several runs, not judged",
		Why: []string{"Two runs can differ by chance alone. kubectl etcdbench compare, or a suite with rounds, says whether one is worse."},
	}
	p.Facts, p.Several, p.Repeat = environments(runs), true, d.repeat(benchmarkFile, runs[0].Object.ObjectMeta, runs[0].Object, nil)
	var manifests []string
	for _, r := range runs {
		manifests = append(manifests, runManifest(r.Object))
	}
	p.Manifest = strings.Join(manifests, "---\n")
	p.Lead, p.Client = numbersOf(runs), comparable(runs)
	p.add(
		Section{ID: "numbers", Title: "Latency", Plots: overlaid(runs)},
		Section{ID: "differences", Title: "What differs in their manifests", Blocks: differences(runs)},
	)
	for i, r := range runs {
		blocks := render.RunBlocks(r.Object)
		_, words, why := verdictOfRun(r.Object)
		s := Section{ID: fmt.Sprintf("run-%d", i+1), Title: cmp.Or(r.Label, fullName(r.Object.Namespace, r.Object.Name)), Folded: true, Command: d.reportOf(r)}
		s.Blocks = append(sentences(append([]string{words + "."}, why...)...), of(blocks, render.PartHeader)...)
		s.Parts = runParts(s.ID, r, blocks)
		p.add(s)
	}
	return p
}

// numbersOf are the numbers of all runs in one table, and how each run ended.
func numbersOf(runs []Run) []render.Block {
	var named []render.NamedRun
	for _, r := range runs {
		_, words, _ := verdictOfRun(r.Object)
		named = append(named, render.NamedRun{Name: r.label(), Verdict: words, Run: r.Object})
	}
	return render.RunsBlocks(named)
}

// comparable says of how many runs the numbers can be compared, why not of the others, and what they warn of.
func comparable(runs []Run) *Judgement {
	invalid := perRun(runs, func(run *v1alpha1.EtcdBenchmark) []string {
		if why := compare.WhyInvalid(run); why != "" {
			return []string{"The numbers cannot be compared: " + why + "."}
		}
		return nil
	})
	counted := 0
	for _, r := range runs {
		if compare.WhyInvalid(r.Object) == "" {
			counted++
		}
	}
	return counting("Runs that count", counted, len(runs), append(invalid, perRun(runs, warningsOf)...))
}

func warningsOf(run *v1alpha1.EtcdBenchmark) []string {
	if run.Status.Summary == nil {
		return nil
	}
	return run.Status.Summary.Warnings
}

// perRun is a list of what is said of the runs, after their names. What is said of several is there once.
func perRun(runs []Run, said func(*v1alpha1.EtcdBenchmark) []string) (out []render.Block) {
	var all []string
	names := map[string][]string{}
	for _, r := range runs {
		for _, sentence := range said(r.Object) {
			if names[sentence] == nil {
				all = append(all, sentence)
			}
			names[sentence] = append(names[sentence], r.label())
		}
	}
	for _, sentence := range all {
		out = append(out, render.Block{Item: true, Text: few(names[sentence]) + ": " + sentence})
	}
	return out
}

// differences compares each run with the first.
func differences(runs []Run) (out []render.Block) {
	rows := [][]string{{"run", "differs from " + runs[0].label() + " in"}}
	for _, r := range runs[1:] {
		all, err := compare.Differences(runs[0].Object, r.Object)
		cell := strings.Join(all, "; ")
		switch {
		case err != nil:
			cell = err.Error()
		case cell == "":
			cell = "nothing: the kind of store, the workload, the load and the disturbances are the same"
		}
		rows = append(rows, []string{r.label(), cell})
	}
	return append([]render.Block{{Rows: rows, Left: 2}}, unlike(runs)...)
}

// unlike says what differs between the environments of each run and of the first.
func unlike(runs []Run) (out []render.Block) {
	first := runs[0]
	for _, r := range runs[1:] {
		if first.Object.Status.Summary == nil || r.Object.Status.Summary == nil {
			continue
		}
		if note := compare.UnlikeRuns(first.Object, r.Object); note != "" {
			named := strings.NewReplacer("the baseline", first.label(), "the candidate", r.label(), "the two sides", first.label()+" and "+r.label())
			out = append(out, render.Block{Item: true, Text: "Not in the manifests: " + named.Replace(note)})
		}
	}
	return out
}
