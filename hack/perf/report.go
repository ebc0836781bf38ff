package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// writeRounds writes every value as JSON.
func writeRounds(path string, rounds []round) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(rounds, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// row is one line of the table.
type row struct {
	name  string
	value func(round) float64
	// bound is what is promised, in seconds; 0 is no promise.
	bound float64
}

func rows() []row {
	return []row{
		{name: "`apply` → first line of a bare Indexed Job", value: func(r round) float64 { return r.FirstLine }},
		{name: "`apply` → first request of the run", value: func(r round) float64 { return r.FirstRequest }},
		{name: "difference of the two", value: func(r round) float64 { return r.FirstRequest - r.FirstLine }, bound: 4},
		{name: "last response → summary in status", value: func(r round) float64 { return r.Summary }, bound: 5},
		{name: "start skew between pods on one node", value: func(r round) float64 { return r.Skew }},
	}
}

// writeTable prints medians and extremes as Markdown. It returns an error if a
// promise is not kept.
func writeTable(w io.Writer, rounds []round) error {
	fmt.Fprintf(w, "| seconds, %d rounds, %d pods | median | least | most | promised |\n|---|---|---|---|---|\n", len(rounds), pods)
	var broken error
	for _, row := range rows() {
		values := make([]float64, 0, len(rounds))
		for _, r := range rounds {
			values = append(values, row.value(r))
		}
		slices.Sort(values)
		fmt.Fprintf(w, "| %s | %.3f | %.3f | %.3f | %s |\n", row.name, median(values), values[0], values[len(values)-1], row.promise())
		if row.bound > 0 && median(values) > row.bound {
			broken = fmt.Errorf("%s: promised at most %.0f s, measured %.3f s", row.name, row.bound, median(values))
		}
	}
	return broken
}

func (r row) promise() string {
	if r.bound == 0 {
		return ""
	}
	return fmt.Sprintf("≤ %.0f", r.bound)
}

// median of sorted values.
func median(sorted []float64) float64 {
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
