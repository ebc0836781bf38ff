package plots

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// element is one element of an SVG with what it contains.
type element struct {
	name     string
	attrs    map[string]string
	text     string
	parent   *element
	children []*element
}

// parsed reads an SVG as strict XML.
func parsed(t *testing.T, svg string) *element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	top := &element{}
	at := top
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("wanted well-formed XML, found %v in %.300s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := &element{name: x.Name.Local, attrs: map[string]string{}, parent: at}
			for _, a := range x.Attr {
				if _, twice := e.attrs[a.Name.Local]; twice {
					t.Fatalf("%s has %s twice", e.name, a.Name.Local)
				}
				e.attrs[a.Name.Local] = a.Value
			}
			at.children, at = append(at.children, e), e
		case xml.EndElement:
			at = at.parent
		case xml.CharData:
			at.text += string(x)
		}
	}
	if len(top.children) != 1 || top.children[0].name != "svg" {
		t.Fatalf("wanted one svg element, found %d elements", len(top.children))
	}
	return top.children[0]
}

// all are the elements below e with a name; every element has the name "".
func (e *element) all(name string) (out []*element) {
	for _, c := range e.children {
		if name == "" || c.name == name {
			out = append(out, c)
		}
		out = append(out, c.all(name)...)
	}
	return out
}

func (e *element) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attrs[name], 64)
	if err != nil {
		t.Fatalf("%s of %s: %v", name, e.name, err)
	}
	return v
}

// everything is each plot of the tests, ordinary and extreme, by its name.
var everything = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, plots := range []map[string]plotted{samples(), extremes()} {
		for name, p := range plots {
			all[name] = p.SVG()
		}
	}
	return all
})

var (
	// decimals matches a number with more than two decimals.
	decimals = regexp.MustCompile(`\.\d{3}`)
	// notNumbers matches what a number must not be.
	notNumbers = regexp.MustCompile(`NaN|Inf|[0-9]e[-+]?[0-9]`)
	properID   = regexp.MustCompile(`^[a-z0-9-]+$`)
)

func TestPlotsAreStaticAndDescribeThemselves(t *testing.T) {
	for name, svg := range everything() {
		t.Run(name, func(t *testing.T) {
			root := parsed(t, svg)
			for _, bad := range []string{"<script", "<style", "<image", "href", "url("} {
				if strings.Contains(svg, bad) {
					t.Errorf("found %s", bad)
				}
			}
			if root.attrs["role"] != "img" || root.attrs["class"] != "plot" || root.attrs["width"] != "" {
				t.Errorf("the element has the attributes %v", root.attrs)
			}
			checkIDs(t, root)
			checkElements(t, root)
		})
	}
}

func checkIDs(t *testing.T, root *element) {
	t.Helper()
	found := map[string]string{}
	for _, e := range root.all("") {
		if id := e.attrs["id"]; id != "" {
			found[id] = e.name
			if !properID.MatchString(id) {
				t.Errorf("an ID is %q", id)
			}
		}
	}
	ids := strings.Fields(root.attrs["aria-labelledby"])
	if len(ids) != 2 || found[ids[0]] != "title" || found[ids[1]] != "desc" || len(found) != 2 {
		t.Errorf("it is labelled by %v and has %v", ids, found)
	}
}

func checkElements(t *testing.T, root *element) {
	t.Helper()
	known := []string{"svg", "g", "path", "text", "title", "desc"}
	for _, e := range root.all("") {
		if !slices.Contains(known, e.name) {
			t.Errorf("found an element %s", e.name)
		}
		for a, v := range e.attrs {
			if a == "style" || strings.HasPrefix(a, "on") {
				t.Errorf("%s has the attribute %s", e.name, a)
			}
			if a != "data-x" && decimals.MatchString(v) || a != "id" && a != "class" && a != "data-x" && notNumbers.MatchString(v) && v[0] != '#' {
				t.Errorf("%s=%.80q has a number that is not finite or too precise", a, v)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for name, svg := range everything() {
		limit := 26 << 10
		if strings.HasPrefix(name, "heatmap") {
			limit = 60 << 10
		}
		if strings.HasPrefix(name, "grid") {
			// A suite has at most 100 cells, and the greatest of these 169.
			limit = 32 << 10
		}
		size := len(svg)
		t.Logf("%s: %d bytes", name, size)
		if size > limit {
			t.Errorf("%s has %d bytes, wanted at most %d", name, size, limit)
		}
	}
}

func TestSameInputSameBytes(t *testing.T) {
	for _, plots := range []map[string]plotted{samples(), extremes()} {
		for name, p := range plots {
			if p.SVG() != everything()[name] {
				t.Errorf("%s differs", name)
			}
		}
	}
}

func TestWithoutData(t *testing.T) {
	nan := []float64{math.NaN()}
	for name, p := range map[string]plotted{
		"forest": Forest{}, "forest of unknowns": Forest{Rows: []ForestRow{{Change: math.NaN()}}}, "knee": Knee{Found: 10}, "knee without rates": Knee{Points: []KneePoint{{P99: 1}}},
		"spectrum": Spectrum{}, "spectrum of unknowns": Spectrum{Lines: []SpectrumLine{{Points: []SpectrumPoint{{0.5, math.NaN()}}}}},
		"over time": OverTime{}, "over time of unknowns": OverTime{Lines: []TimeLine{{Values: nan}}, Stalls: []bool{true}},
		"heatmap": Heatmap{}, "heatmap of zeros": Heatmap{Bands: []Band{{0, 1, []uint64{0}}}, Lines: []TimeLine{{Values: nan}}}, "dots": Dots{}, "dots of unknowns": Dots{Rounds: make([]DotRound, 3)},
		"curves": Curves{}, "curves of unknowns": Curves{Lines: []CurveLine{{Points: []CurvePoint{{At: 1, Value: math.NaN()}}}}},
		"grid": Grid{}, "grid of unknowns": Grid{Columns: []string{"1"}, Rows: []string{"1"}, Cells: [][]GridCell{{{Value: math.NaN()}}}},
		"bars": Bars{}, "bars of zeros": Bars{Rows: make([]BarRow, 2)},
	} {
		texts := parsed(t, p.SVG()).all("text")
		if len(texts) != 1 || texts[0].text != "no data" {
			t.Errorf("%s: wanted no data, found %d texts", name, len(texts))
		}
	}
}

func TestHostileTextsAreContentOnly(t *testing.T) {
	for _, label := range hostile() {
		f := Forest{About: About{ID: label, Title: label, Description: label}, Rows: []ForestRow{{Label: label, Change: 0.1, Limit: 0.2}}}
		root := parsed(t, f.SVG())
		var titles []string
		for _, e := range root.all("title") {
			titles = append(titles, e.text)
		}
		if want := cleaned(label); titles[0] != want || !slices.ContainsFunc(titles[1:], func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("wanted the whole of %q in titles, found %q", want, titles)
		}
	}
}

func TestLongLabelsKeepBothEnds(t *testing.T) {
	label := "begin-" + strings.Repeat("m", 200) + "-end"
	root := parsed(t, Bars{Rows: []BarRow{{Label: label, Value: 1}}}.SVG())
	if !slices.ContainsFunc(root.all("text"), func(e *element) bool {
		return strings.HasPrefix(e.text, "begin-") && strings.Contains(e.text, "…") && strings.HasSuffix(e.text, "-end")
	}) {
		t.Error("the label is not shortened in its middle")
	}
}

func FuzzLabels(f *testing.F) {
	for _, label := range hostile() {
		f.Add(label)
	}
	f.Fuzz(func(t *testing.T, label string) {
		a := About{ID: label, Title: label, Description: label}
		d := Dots{About: a, Unit: Unit(label), Baseline: label, Candidate: label, Axis: label, Rounds: []DotRound{{label, 1, 2}, {label, 3, 4}}}
		o := OverTime{About: a, Interval: 1, Lines: []TimeLine{{Label: label, Values: []float64{1, 2, 3}}}, Marks: []Mark{{1, 2, label}, {2, 0, label}}}
		for _, p := range []plotted{d, o, Bars{About: a, Rows: []BarRow{{Label: label, Value: 1}}}} {
			checkTexts(t, parsed(t, p.SVG()))
		}
	})
}
