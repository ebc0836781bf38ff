package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// limitOf names what a run says was its limit.
func limitOf(m measured, name, cell string) string {
	r := m.runOf(name, cell)
	if r == nil || r.Object.Status.Summary == nil {
		return "What limited the run is not known."
	}
	for _, e := range r.Object.Status.Summary.Evidence {
		if e.Resource == v1alpha1.ResourceCPU {
			return "The limit was the processors: " + lowerFirst(e.Message)
		}
	}
	return "No resource of the members was at its limit."
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// markdown is docs/published.md.
func markdown(m measured, tables []table) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Published tables, beside ours\n\n<!-- make published writes this page. -->\n")
	fmt.Fprintf(&out, "`make published LEVEL=quick` measures each table below on this machine and writes this page, and the pictures in\n`out/published.html`. `LEVEL=all` takes the totals of the suites. In a cluster: `kubectl apply -f config/samples/published/`.\n\n")
	fmt.Fprintf(&out, "%s\n\n", machineText(m))
	for _, t := range tables {
		fmt.Fprintf(&out, "## %s\n\n%s\n\n%s\n", t.title, t.theirs, tableText(t))
		for _, said := range slices.Concat([]string{t.differs}, t.said) {
			if said != "" {
				fmt.Fprintf(&out, "%s\n\n", said)
			}
		}
	}
	return strings.TrimSpace(out.String()) + "\n"
}

// tableText writes a table without spaces, so that a row is short.
func tableText(t table) string {
	var out strings.Builder
	line := func(cells []string) { out.WriteString("|" + strings.Join(cells, "|") + "|\n") }
	line(t.header)
	line(slices.Repeat([]string{"---"}, len(t.header)))
	for _, row := range t.rows {
		line(append(row, slices.Repeat([]string{""}, max(0, len(t.header)-len(row)))...))
	}
	return out.String()
}

// machineText says what all of our rows have in common.
func machineText(m measured) string {
	versions, processors, day := map[string]bool{}, int64(0), ""
	for _, d := range m.suites {
		if c := d.Suite.Status.CompletionTime; c != nil {
			day = max(day, c.UTC().Format("2006-01-02"))
		}
		for _, r := range d.Runs {
			if s := r.Object.Status.Summary; s != nil && s.Fingerprint != nil {
				processors = max(processors, s.Fingerprint.PodMillicores/1000)
				for _, v := range s.Fingerprint.Versions {
					versions[v] = true
				}
			}
		}
	}
	if len(m.suites) == 0 {
		return "Nothing was run yet."
	}
	return fmt.Sprintf("\"Here\" is one machine with %s on %s, with etcd %s. All members, the load generator and other programs shared its processors and its disk, so no number shows what etcd can do: "+
		"only rows of one machine can be compared. A number with †: the load generator was its limit.", text.Plural(processors, "processor"), day, strings.Join(slices.Sorted(maps.Keys(versions)), " and "))
}

// pageOf is out/published.html.
func pageOf(m measured, tables []table) ([]byte, error) {
	p := report.Page{Title: "Published tables, beside ours", State: report.None, Verdict: "Measured on this machine", Why: []string{plain(machineText(m))}}
	for _, t := range tables {
		s := report.Section{ID: t.id, Title: t.title, Plots: t.plots, Blocks: []render.Block{{Text: plain(t.theirs)}, {Rows: append([][]string{t.header}, t.rows...), Left: 1}}}
		for _, said := range slices.Concat([]string{t.differs}, t.said) {
			if said != "" {
				s.Blocks = append(s.Blocks, render.Block{Text: plain(said)})
			}
		}
		p.Sections = append(p.Sections, s)
	}
	return report.PageHTML(p, "")
}
