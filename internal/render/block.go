package render

import (
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Part is what a block of a result is about.
type Part string

// The parts of the results of runs, suites and comparisons.
const (
	PartHeader     Part = "header"
	PartObjectives Part = "objectives"
	PartNumbers    Part = "numbers"
	PartCourse     Part = "course"
	PartRequests   Part = "requests"
	PartMembers    Part = "members"
	PartEvidence   Part = "evidence"
	PartLimits     Part = "limits"
	PartWarnings   Part = "warnings"
	PartComparison Part = "comparison"
	PartProblems   Part = "problems"
)

// Block is a table or a sentence of a result. Each form of output writes them in its own way.
type Block struct {
	Part Part
	// Rows are a table if there are any; the first is its header.
	Rows [][]string
	// Left is the number of columns of the table that are aligned left. The others have numbers.
	Left int
	// Heading is true if Text is a heading.
	Heading bool
	// Item is true if Text is an item of a list.
	Item bool
	// Label is before Text; it can be empty.
	Label, Text string
}

// bullet is the label of an item of a list.
const bullet = "-"

// page collects the blocks of a result.
type page struct {
	part   Part
	blocks []Block
	// text is the result as it is printed.
	text strings.Builder
}

// begin starts a part.
func (p *page) begin(part Part) { p.part = part }

// gap is an empty line.
func (p *page) gap() { p.text.WriteByte('\n') }

// line prints text that is not wrapped.
func (p *page) line(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	p.text.WriteString(line + "\n")
	p.blocks = append(p.blocks, Block{Part: p.part, Text: strings.TrimSpace(line)})
}

// heading prints the heading of sentences after an empty line.
func (p *page) heading(heading string) {
	p.text.WriteString("\n" + heading + "\n")
	p.blocks = append(p.blocks, Block{Part: p.part, Heading: true, Text: heading})
}

// section prints a grid after an empty line.
func (p *page) section(g grid) {
	p.text.WriteString("\n" + g.String())
	p.blocks = append(p.blocks, Block{Part: p.part, Rows: g.rows, Left: g.left})
}

// sentence prints text of any length, wrapped and indented after a label.
func (p *page) sentence(label, sentence string) {
	p.wrapped(label, sentence)
	label = strings.TrimSpace(label)
	if label == bullet {
		p.blocks = append(p.blocks, Block{Part: p.part, Item: true, Text: sentence})
		return
	}
	p.blocks = append(p.blocks, Block{Part: p.part, Label: label, Text: sentence})
}

func (p *page) wrapped(label, sentence string) {
	indent := strings.Repeat(" ", len(label))
	for i, line := range text.Wrap(sentence, TableWidth-len(label)) {
		if i > 0 {
			label = indent
		}
		p.text.WriteString(label + line + "\n")
	}
}

// further prints text that belongs to the sentence before it, under a label of the same width.
func (p *page) further(width int, sentence string) {
	p.wrapped(strings.Repeat(" ", width), sentence)
	last := &p.blocks[len(p.blocks)-1]
	last.Text = strings.TrimSpace(last.Text + " " + sentence)
}
