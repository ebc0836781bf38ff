package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/plots"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// maxHTML bounds a page, so that it can be sent around.
	maxHTML = 1500 << 10
	// shownRows is the most rows of a table before it folds.
	shownRows = 30
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

//go:embed page.tmpl
var pageTemplate string

var page = template.Must(template.New("page").Parse(pageTemplate))

// HTML writes the page as one file that needs no network. Its script makes plots answer to the pointer; without it, the page
// shows the same. Details of runs for which it has no room are named with the command that shows them.
func HTML(d *Document) ([]byte, error) { return PageHTML(d.Page(), d.Tool) }

// PageHTML writes a page that the version of a tool has made.
func PageHTML(p Page, tool string) ([]byte, error) {
	p, style := cleaned(p), "\n"+pageStyle+plots.Styles()
	script := "\n" + pageScript
	view := pageView{
		Page: p, Tool: tool, Style: template.CSS(style), StyleDigest: digestOf(style), Script: template.JS(script), ScriptDigest: digestOf(script),
		Judged: []judgedView{viewOfJudgement(&Judgement{Title: "Verdict", State: p.State, Words: p.Verdict, Why: append(sentences(p.Why...), p.Objectives...)}, "verdict")},
	}
	if p.Client != nil {
		view.Judged = append(view.Judged, viewOfJudgement(p.Client, "client"))
	}
	lead, err := sectionHTML(Section{ID: "lead", Title: "The numbers of all runs", Blocks: p.Lead})
	if err != nil {
		return nil, err
	}
	if len(p.Lead) > 0 {
		view.Lead = template.HTML(lead)
	}
	size := len(style) + len(script) + len(p.Manifest)
	for _, s := range p.Sections {
		written, err := sectionHTML(s)
		if err != nil {
			return nil, err
		}
		if s.Folded && size+len(written) > maxHTML {
			view.Omitted, view.Commands = append(view.Omitted, cmp.Or(s.Command, s.Title)), view.Commands || s.Command != ""
			continue
		}
		for !s.Folded && size+len(written) > maxHTML && len(s.Plots) > 0 {
			s = s.withFewerPlots()
			if written, err = sectionHTML(s); err != nil {
				return nil, err
			}
		}
		size += len(written)
		view.Sections = append(view.Sections, template.HTML(written))
	}
	var out bytes.Buffer
	if err := page.Execute(&out, view); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return out.Bytes(), nil
}

// digestOf is how a policy allows one style sheet or script, and no other.
func digestOf(s string) string {
	digest := sha256.Sum256([]byte(s))
	return base64.StdEncoding.EncodeToString(digest[:])
}

func sectionHTML(s Section) (string, error) {
	var out strings.Builder
	if err := page.ExecuteTemplate(&out, "section", viewOf(s, "")); err != nil {
		return "", fmt.Errorf("writing the section %s: %w", s.Title, err)
	}
	return out.String(), nil
}

// withFewerPlots is a section with the first half of its plots, and how many it has no room for.
func (s Section) withFewerPlots() Section {
	s.lacking += len(s.Plots) - len(s.Plots)/2
	s.Plots = s.Plots[:len(s.Plots)/2]
	return s
}

// pageView is what the template needs of a page.
type pageView struct {
	Page                      Page
	Tool                      string
	Style                     template.CSS
	Script                    template.JS
	StyleDigest, ScriptDigest string
	Lead                      template.HTML
	Judged                    []judgedView
	Sections                  []template.HTML
	Omitted                   []string
	// Commands: Omitted are commands, and not names.
	Commands bool
}

type judgedView struct {
	ID, Title, Mark, Words string
	State                  State
	Why                    []blockView
}

func viewOfJudgement(j *Judgement, id string) judgedView {
	words := clean(j.Words)
	v := judgedView{ID: id, Title: j.Title, Mark: j.State.mark(), Words: strings.ToUpper(words[:min(len(words), 1)]) + words[min(len(words), 1):], State: j.State}
	for _, b := range j.Why {
		v.Why = append(v.Why, viewOfBlock(j.Title, b))
	}
	return v
}

type sectionView struct {
	ID, Title      string
	Folded, Nested bool
	First          []blockView
	Figures        []figureView
	Parts          []sectionView
}

type blockView struct {
	Table       *tableView
	Fold        string
	Heading     bool
	Item        bool
	Label, Text string
}

type figureView struct {
	Title, Description string
	// Name is unique in the page, as that of a table.
	Name  string
	SVG   template.HTML
	Table *tableView
}

type tableView struct {
	Name   string
	Header []cellView
	Rows   [][]cellView
	// Wide tables have a block for each row where the window is narrow. Those of a few columns have one head for all.
	Wide, Few bool
}

// cellView is a cell. Long ones wrap. Label is the head of its column.
type cellView struct {
	Text, Label string
	Left, Long  bool
}

// viewOf returns what the template needs of a section. above is the title of the section that it is a part of.
func viewOf(s Section, above string) sectionView {
	v := sectionView{ID: s.ID, Title: clean(s.Title), Folded: s.Folded, Nested: above != ""}
	within := ""
	if v.Nested {
		within = clean(above) + ": "
	}
	tables := 0
	for _, b := range s.Blocks {
		name := within + v.Title
		if len(b.Rows) > 0 {
			if tables++; tables > 1 {
				name = fmt.Sprintf("%s, table %d", name, tables)
			}
		}
		v.First = append(v.First, viewOfBlock(name, b))
	}
	for _, p := range s.Plots {
		v.Figures = append(v.Figures, viewOfPlot(within, p))
	}
	if s.lacking > 0 {
		v.First = append(v.First, blockView{Text: "The page has no room for " + text.Plural(s.lacking, "plot") + " of this part."})
	}
	for _, part := range s.Parts {
		v.Parts = append(v.Parts, viewOf(part, s.Title))
	}
	return v
}

func viewOfPlot(within string, p Plot) figureView {
	about := p.Picture.Info()
	title := clean(about.Title)
	f := figureView{Title: title, Description: clean(about.Description), Name: within + title, SVG: template.HTML(p.Picture.SVG())}
	if len(p.Rows) > 1 {
		f.Table = tableOf("Numbers of "+f.Name, p.Rows, 1)
	}
	return f
}

func viewOfBlock(name string, b render.Block) blockView {
	if len(b.Rows) > 0 {
		v := blockView{Table: tableOf(name, b.Rows, b.Left)}
		if n := len(b.Rows) - 1; n > shownRows {
			v.Fold = "Table of " + text.Plural(n, "row")
		}
		return v
	}
	v := blockView{Heading: b.Heading, Item: b.Item, Label: clean(b.Label), Text: clean(b.Text)}
	if b.Heading {
		v.Text = sentenceCase(b.Text)
	}
	return v
}

// sentenceCase is for the headings of the terminal, which are in capitals.
func sentenceCase(s string) string {
	if s != strings.ToUpper(s) || s == "" {
		return s
	}
	return s[:1] + strings.ToLower(s[1:])
}

// tableOf makes rows as wide as the widest.
func tableOf(name string, rows [][]string, left int) *tableView {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	t := &tableView{Name: name, Wide: isWide(rows, left), Few: width <= fewColumns}
	cells := func(row []string) []cellView {
		out := make([]cellView, width)
		for i := range out {
			out[i].Left = i < left
			if i < len(row) {
				out[i].Text = clean(row[i])
			}
			out[i].Long = i > 0 && slices.ContainsFunc(rows[1:], func(row []string) bool { return i < len(row) && utf8.RuneCountInString(row[i]) > longCell })
			if t.Wide && !t.Few && i > 0 && i < len(rows[0]) && out[i].Text != "" {
				out[i].Label = clean(rows[0][i])
			}
		}
		return out
	}
	t.Header = cells(rows[0])
	for _, row := range rows[1:] {
		t.Rows = append(t.Rows, cells(row))
	}
	return t
}

const (
	// longCell is how many characters a cell has on one line.
	longCell = 24
	// narrowest is how many characters fit into a window of 360 pixels, and cellGap how many the space around a cell takes.
	narrowest, cellGap = 38, 3
	// fewColumns fit beside each other under the name of a row.
	fewColumns = 4
)

// isWide reports whether a telephone has no room for a table. The name of a row can wrap.
func isWide(rows [][]string, left int) bool {
	const least = 12
	total := 0
	for i := range rows[0] {
		widest := 0
		for _, row := range rows {
			if i < len(row) {
				widest = max(widest, utf8.RuneCountInString(row[i]))
			}
		}
		if i == 0 && left > 0 {
			widest = min(widest, least)
		}
		total += min(widest, longCell) + cellGap
	}
	return total > narrowest
}

// cleaned is the page without characters that are not printed or that change the direction of text around them.
func cleaned(p Page) Page {
	p.Title, p.Verdict = clean(p.Title), clean(p.Verdict)
	for i := range p.Why {
		p.Why[i] = clean(p.Why[i])
	}
	for i, t := range p.Tiles {
		p.Tiles[i] = Tile{clean(t.Name), clean(t.Value), clean(t.Note)}
	}
	for i := range p.Facts {
		p.Facts[i] = Fact{clean(p.Facts[i].Name), clean(p.Facts[i].Value)}
	}
	return p
}

// clean is a text on one line.
func clean(s string) string {
	const most = 8 << 10
	return strings.Join(strings.Fields(text.Shorten(s, most)), " ")
}
