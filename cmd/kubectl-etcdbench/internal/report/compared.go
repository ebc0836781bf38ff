package report

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
)

// ComparedPage is the page of what kubectl etcdbench compare found.
func ComparedPage(title string, verdict v1alpha1.ComparisonVerdict, c *render.Compared) Page {
	p := Page{Title: title, Verdict: string(verdict), Why: []string{render.Headline(verdict)}}
	p.State = map[v1alpha1.ComparisonVerdict]State{v1alpha1.Regressed: Bad, v1alpha1.NotRegressed: Good, v1alpha1.NotCompared: Open}[verdict]
	p.Facts = labelled(of(c.Blocks(), render.PartHeader))
	p.add(Section{ID: "comparisons", Title: "Comparisons", Blocks: of(c.Blocks(), render.PartComparison)})
	return p
}

// labelled are the blocks that are a name and a value.
func labelled(blocks []render.Block) (out []Fact) {
	for _, b := range blocks {
		if b.Label != "" {
			out = append(out, Fact{b.Label, b.Text})
		}
	}
	return out
}
