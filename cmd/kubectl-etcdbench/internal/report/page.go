package report

import (
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
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
	Facts   []Fact
	// Sections are the parts. Those of single runs are folded, and are left out first.
	Sections []Section
	// Manifest is what was run, as YAML, and Command how to repeat it. Several runs have several documents.
	Manifest, Command string
	Several           bool
}

// Fact is a line with a name.
type Fact struct{ Name, Value string }

// Section is a part of a page.
type Section struct {
	ID, Title string
	// Folded is true for what a reader opens only if the rest has a question.
	Folded bool
	Blocks []render.Block
	Plots  []Plot
	// Parts are sections below this one.
	Parts []Section
	// Command shows the section if the page has no room for it.
	Command string
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
	switch {
	case d.Suite != nil:
		return suitePage(d)
	case d.Schedule != nil:
		return schedulePage(d.Schedule)
	case len(d.Runs) == 1:
		return runPage(d.Runs[0])
	}
	return runsPage(d.Runs)
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
