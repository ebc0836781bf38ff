package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// A cell without a run, and one whose runs do not count, are in the plot and in its table, and the text names them.
func TestCellsWithoutANumberAreNamed(t *testing.T) {
	s := compared(t, 3, 1.5).Suite
	for _, name := range []string{"later", "broken"} {
		target := s.Spec.Targets[0]
		target.Name = v1alpha1.EntryName(name)
		s.Spec.Targets = append(s.Spec.Targets, target)
	}
	broken := s.Status.Results[0]
	broken.Name, broken.Cell, broken.Invalid = "versions-1-9", "broken", "its load generator was a limit (ClientBound)"
	s.Status.Results = append(s.Status.Results, broken)
	if drawn, equal := cellPlots(s); len(drawn) != 1 || drawn[0].Picture.Info().ID != "cells-p99" || len(equal) != 1 || equal[0].Text != "All are equal: 10,100/s. Without a number: later (no run), broken (no valid run)." {
		t.Errorf("wanted only the plot of the p99, found %d plots and the sentences %+v", len(drawn), equal)
	}
	for i := range s.Status.Results {
		if r := &s.Status.Results[i]; r.Cell == "new" {
			r.Operations = slices.Clone(r.Operations)
			r.Operations[0].ThroughputMilliPerSecond *= 2
			r.Values = nil
		}
	}
	drawn, _ := cellPlots(s)
	plot := drawn[0]
	var cells [][]string
	for _, row := range plot.Rows[1:] {
		cells = append(cells, []string{row[0], row[1], row[4]})
	}
	want := [][]string{{"old", "10,100/s", "3"}, {"new", "20,200/s", "3"}, {"later", "no run", "0"}, {"broken", "no valid run", "0"}}
	if diff := cmp.Diff(want, cells); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	svg, about := plot.Picture.SVG(), plot.Picture.Info()
	for _, text := range []string{"later", "no run", "broken", "no valid run"} {
		if !strings.Contains(svg, text) {
			t.Errorf("the plot lacks %q", text)
		}
	}
	if want := "Lowest: old, 10,100/s. Without a number: later (no run), broken (no valid run)."; !strings.HasSuffix(about.Description, want) {
		t.Errorf("found %q, wanted %q", about.Description, want)
	}
	s.Status.Results = slices.DeleteFunc(s.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Cell != "broken" })
	if drawn, equal := cellPlots(s); len(drawn)+len(equal) > 0 {
		t.Errorf("a suite without a number has %d plots, and the sentences %+v", len(drawn), equal)
	}
}
