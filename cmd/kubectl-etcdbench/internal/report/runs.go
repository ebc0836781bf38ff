package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// runsPage shows several runs beside each other. It judges nothing: a comparison needs rounds.
func runsPage(runs []Run) Page {
	p := Page{
		Title: text.Plural(len(runs), "run"), State: None, Verdict: "Several runs, not judged",
		Why: []string{"Two single runs differ by chance. kubectl etcdbench compare, or a suite with rounds, says whether one is worse."},
	}
	p.Facts, p.Several, p.Command = environments(runs), true, repeatRun
	var manifests []string
	for _, r := range runs {
		manifests = append(manifests, manifest("EtcdBenchmark", r.Object.ObjectMeta, r.Object.Spec))
	}
	p.Manifest = strings.Join(manifests, "---\n")
	p.add(
		Section{ID: "differences", Title: "What differs in their manifests", Blocks: differences(runs)},
		Section{ID: "numbers", Title: "Latency and throughput", Plots: overlaid(runs)},
	)
	for i, r := range runs {
		blocks := render.RunBlocks(r.Object)
		_, words, why := verdictOfRun(r.Object)
		s := Section{ID: fmt.Sprintf("run-%d", i+1), Title: fullName(r.Object.Namespace, r.Object.Name), Folded: true, Command: "kubectl etcdbench report run/" + r.Object.Name}
		s.Blocks = append(sentences(append([]string{words + "."}, why...)...), of(blocks, render.PartHeader)...)
		for _, part := range runSections(s.ID+"-", r, blocks) {
			if !part.isEmpty() {
				s.Parts = append(s.Parts, part)
			}
		}
		p.add(s)
	}
	return p
}

// differences compares each run with the first.
func differences(runs []Run) (out []render.Block) {
	rows := [][]string{{"run", "differs from " + runs[0].Object.Name + " in"}}
	for _, r := range runs[1:] {
		all, err := compare.Differences(runs[0].Object, r.Object)
		cell := strings.Join(all, "; ")
		switch {
		case err != nil:
			cell = err.Error()
		case cell == "":
			cell = "nothing: store, workload, load and disturbances are the same"
		}
		rows = append(rows, []string{r.Object.Name, cell})
	}
	return []render.Block{{Rows: rows, Left: 2}}
}

// overlaid draws the distributions of all runs in one plot per operation.
func overlaid(runs []Run) (out []Plot) {
	lines := map[spec.Operation][]plots.SpectrumLine{}
	for i, r := range runs {
		for operation, op := range r.detail().Operations {
			if points := curve(ranked(op)); len(points) > 0 {
				lines[operation] = append(lines[operation], plots.SpectrumLine{Label: r.Object.Name, Group: i, Points: points})
			}
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(lines)) {
		out = append(out, Plot{Picture: plots.Spectrum{
			About: plots.About{
				ID: "spectrum-" + strings.ToLower(string(operation)), Title: fmt.Sprintf("%s: latency by percentile", operation),
				Description: "A line per run. It ends where fewer than ten requests took longer.",
			},
			Lines: lines[operation],
		}, Rows: curveRows(lines[operation])})
	}
	return out
}
