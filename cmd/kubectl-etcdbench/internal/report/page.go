package report

import (
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// State is how a result looks at first sight.
type State string

// The states. None is a result without objectives or comparisons.
const (
	Good State = "good"
	Bad  State = "bad"
	Open State = "open"
	None State = "none"
)

// mark stands beside the words, so that a state does not depend on colour.
func (s State) mark() string {
	return map[State]string{Good: "✔", Bad: "✘", Open: "?", None: "●"}[s]
}

// Page is what a report shows, in order.
type Page struct {
	// Title names the object.
	Title string
	State State
	// Verdict is a few words, Why the sentences below them.
	Verdict string
	Why     []string
	// Tiles are the numbers to read first; of several runs, Lead is a table.
	Tiles []Tile
	Lead  []render.Block
	// Objectives are a table beside the verdict.
	Objectives []render.Block
	// Client is what decides whether the numbers can be used; nil if that is not known.
	Client *Judgement
	// Facts are what is known of the runs. The first facts, as many as compared, describe the targets that a suite compares.
	Facts    []Fact
	compared int
	// Sections are the parts. Those of single runs are folded, and are left out first.
	Sections []Section
	// Manifest is what was run, as YAML. Several runs have several documents.
	Manifest string
	Repeat   repetition
	Several  bool
}

// Fact is a line with a name.
type Fact struct{ Name, Value string }

// Section is a part of a page.
type Section struct {
	ID, Title string
	// Folded sections hold details that few readers need.
	Folded bool
	Blocks []render.Block
	Plots  []Plot
	// Parts are sections below this one.
	Parts []Section
	// Command shows the section if the page has no room for it.
	Command string
	// lacking is how many plots the page has no room for.
	lacking int
}

// Plot is a picture and the numbers behind it.
type Plot struct {
	Picture interface {
		SVG() string
		Info() plots.About
	}
	// Rows are a table; the first is its header.
	Rows [][]string
}

// isEmpty reports whether a section has nothing to show.
func (s Section) isEmpty() bool { return len(s.Blocks)+len(s.Plots)+len(s.Parts) == 0 }

// add appends sections that have something to show.
func (p *Page) add(sections ...Section) {
	for _, s := range sections {
		if !s.isEmpty() {
			p.Sections = append(p.Sections, s)
		}
	}
}

// Page returns what the report shows.
func (d *Document) Page() Page {
	p := d.page()
	if lacks := sentences(append(slices.Clone(d.Notes), d.unread()...)...); len(lacks) > 0 {
		at := slices.IndexFunc(p.Sections, func(s Section) bool { return s.Folded })
		if at < 0 {
			at = len(p.Sections)
		}
		p.Sections = slices.Insert(p.Sections, at, Section{ID: "lacks", Title: "What this report lacks", Blocks: lacks})
	}
	return p
}

// unread names the runs whose stored reports cannot be read.
func (d *Document) unread() (out []string) {
	const most = 3
	failed := 0
	for _, r := range d.Runs {
		if len(r.Report) == 0 {
			continue
		}
		if _, err := benchmark.ReadReport(r.Report); err != nil {
			if failed++; failed <= most {
				out = append(out, fmt.Sprintf("The stored report of %s cannot be read, so its plots are missing: %v.", r.label(), err))
			}
		}
	}
	if failed > most {
		out = append(out, fmt.Sprintf("The same holds for %s more.", text.Plural(failed-most, "run")))
	}
	return out
}

func (d *Document) page() Page {
	switch {
	case d.Suite != nil:
		return suitePage(d)
	case d.Schedule != nil:
		return schedulePage(d)
	case len(d.Runs) == 1:
		return runPage(d, d.Runs[0])
	}
	return runsPage(d)
}

// of returns the blocks of a part.
func of(blocks []render.Block, part render.Part) (out []render.Block) {
	for _, b := range blocks {
		if b.Part == part {
			out = append(out, b)
		}
	}
	return out
}

// sentences are blocks of text.
func sentences(all ...string) (out []render.Block) {
	for _, s := range all {
		if s != "" {
			out = append(out, render.Block{Text: s})
		}
	}
	return out
}

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
