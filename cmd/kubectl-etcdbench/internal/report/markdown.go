package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxMarkdown bounds the Markdown: a comment of GitHub has at most 65,536 characters.
const maxMarkdown = 60 << 10

// lastLine is room for the line about what is left out.
const lastLine = 200

// Markdown writes the page for a pull request, without plots and without the details of single runs. If a suite compares
// targets, these and the comparisons come first.
func (p Page) Markdown() []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "## %s %s\n\n%s\n\n", p.State.emoji(), escape(p.Verdict), paragraph(p.Title))
	out.WriteString(sectionMarkdown(Section{Title: "The numbers of all runs", Blocks: p.Lead}))
	facts := func(all []Fact) {
		for _, f := range all {
			fmt.Fprintf(&out, "- **%s**: %s\n", escape(f.Name), escape(f.Value))
		}
	}
	sections := p.Sections
	if facts(p.Facts[:p.compared]); p.compared == 0 {
		for _, t := range p.Tiles {
			facts([]Fact{{t.Name, strings.TrimSpace(t.Value + " " + t.Note)}})
		}
	} else if at := slices.IndexFunc(sections, func(s Section) bool { return s.ID == comparisonsID }); at >= 0 {
		out.WriteString(sectionMarkdown(sections[at]))
		sections = slices.Delete(slices.Clone(sections), at, at+1)
	}
	out.WriteString("\n")
	for _, why := range p.Why {
		fmt.Fprintf(&out, "%s\n\n", paragraph(why))
	}
	for _, b := range p.Objectives {
		out.WriteString(blockMarkdown(b))
	}
	if p.Client != nil {
		fmt.Fprintf(&out, "**%s**: %s\n\n", escape(p.Client.Title), escape(p.Client.Words))
		for _, b := range p.Client.Why {
			out.WriteString(blockMarkdown(b))
		}
	}
	facts(p.Facts[p.compared:])
	left := 0
	for _, s := range sections {
		section := sectionMarkdown(s)
		if s.Folded || section == "" {
			continue
		}
		if out.Len()+len(section) > maxMarkdown-lastLine {
			left++
			continue
		}
		out.WriteString(section)
	}
	if left > 0 {
		fmt.Fprintf(&out, "\n%s left out for lack of room: the HTML report has all.\n", text.Plural(left, "section"))
	}
	return []byte(out.String())
}

// emoji is the state as services for pull requests show it.
func (s State) emoji() string {
	return map[State]string{Good: "✅", Bad: "❌", Open: "❔", None: "📈"}[s]
}

func sectionMarkdown(s Section) string {
	var out strings.Builder
	for _, b := range s.Blocks {
		out.WriteString(blockMarkdown(b))
	}
	if out.Len() == 0 {
		return ""
	}
	return "\n### " + escape(s.Title) + "\n\n" + out.String()
}

func blockMarkdown(b render.Block) string {
	switch {
	case len(b.Rows) > 0:
		return tableMarkdown(b)
	case b.Heading:
		return "**" + escape(sentenceCase(b.Text)) + "**\n\n"
	case b.Item:
		return "- " + paragraph(b.Text) + "\n\n"
	case b.Label != "":
		return "**" + escape(b.Label) + "** " + escape(b.Text) + "\n\n"
	}
	return paragraph(b.Text) + "\n\n"
}

func tableMarkdown(b render.Block) string {
	var out strings.Builder
	row := func(cells []string) {
		for i := range b.Rows[0] {
			cell := ""
			if i < len(cells) {
				cell = escape(cells[i])
			}
			out.WriteString("| " + cell + " ")
		}
		out.WriteString("|\n")
	}
	row(b.Rows[0])
	for i := range b.Rows[0] {
		if i < b.Left {
			out.WriteString("|:---")
		} else {
			out.WriteString("|---:")
		}
	}
	out.WriteString("|\n")
	for i, cells := range b.Rows[1:] {
		if i == shownRows {
			fmt.Fprintf(&out, "\n%s more rows are in the HTML report.\n", text.Grouped(len(b.Rows)-1-shownRows))
			break
		}
		row(cells)
	}
	return out.String() + "\n"
}

// unlinked breaks what GitHub would turn into a link: addresses, and mentions of users and of issues. \u200b is not seen.
var unlinked = strings.NewReplacer("://", ":\u200b//", "www.", "www\u200b.")

// escape escapes what Markdown and HTML in it would read as markup.
func escape(s string) string {
	var out strings.Builder
	for _, r := range unlinked.Replace(clean(s)) {
		switch {
		case r == '<':
			out.WriteString("&lt;")
		case r == '>':
			out.WriteString("&gt;")
		case r == '&':
			out.WriteString("&amp;")
		case r == '@':
			out.WriteString("@\u200b")
		case r == '#':
			out.WriteString("\\#\u200b")
		case strings.ContainsRune("\\`*_[]|~", r):
			out.WriteRune('\\')
			out.WriteRune(r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// listMarker matches what makes a list of a line.
var listMarker = regexp.MustCompile(`^([0-9]*)([-+.)])`)

// paragraph is an escaped text at the beginning of a line.
func paragraph(s string) string { return listMarker.ReplaceAllString(escape(s), `$1\$2`) }
