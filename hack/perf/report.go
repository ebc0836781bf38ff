package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// table writes the comparisons as Markdown. Each figure has its median over the rounds, its spread, its bound, and whether
// the median is within the bound.
func table(all []comparison, kept records) string {
	var out strings.Builder
	out.WriteString("| load (`-rows`) | figure | median | min – max | median of each side | bound | within bound |\n|---|---|---|---|---|---|---|\n")
	for _, c := range all {
		for i, f := range c.figures {
			load := ""
			if i == 0 {
				load = fmt.Sprintf("%s (`%s`)", c.what, c.name)
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", load, f.what, strings.Join(f.cells(kept[c.name].Rounds), " | "))
		}
	}
	out.WriteString("\n" + machines(all, kept))
	return out.String()
}

// cells returns the columns after the name of the figure.
func (f figure) cells(rounds []round) []string {
	if len(rounds) == 0 {
		return []string{"not measured", "", "", f.bound.text, ""}
	}
	values := f.values(rounds)
	slices.Sort(values)
	if math.IsNaN(values[0]) {
		return []string{"missing in a round", "", "", f.bound.text, ""}
	}
	middle := median(values)
	return []string{
		threeDigits(middle), threeDigits(values[0]) + " – " + threeDigits(values[len(values)-1]), f.sides(rounds), f.bound.text, f.verdict(middle),
	}
}

func (f figure) verdict(v float64) string {
	switch {
	case f.bound == reported():
		return ""
	case f.bound.holds(v):
		return "yes"
	}
	return "**no**"
}

// sides returns the median of each side of a ratio.
func (f figure) sides(rounds []round) string {
	if f.by == "" {
		return ""
	}
	of, by := figure{metric: f.metric, of: f.of}.values(rounds), figure{metric: f.metric, of: f.by}.values(rounds)
	slices.Sort(of)
	slices.Sort(by)
	return threeDigits(median(of)) + " ÷ " + threeDigits(median(by)) + unitOf(f.metric)
}

func unitOf(m metric) string {
	switch name := string(m); {
	case strings.HasSuffix(name, "Micros"):
		return " µs"
	case strings.HasSuffix(name, "PerSecond"):
		return "/s"
	case strings.HasSuffix(name, "MB"):
		return " MB"
	}
	return ""
}

// machines lists on which machine and at which commit the comparisons were measured, one line for each combination.
func machines(all []comparison, kept records) string {
	byMachine := map[string][]string{}
	var order []string
	for _, c := range all {
		r, measured := kept[c.name]
		if !measured {
			continue
		}
		place := r.place()
		if byMachine[place] == nil {
			order = append(order, place)
		}
		byMachine[place] = append(byMachine[place], "`"+c.name+"`")
	}
	var out strings.Builder
	for _, place := range order {
		fmt.Fprintf(&out, "- %s: %s\n", strings.Join(byMachine[place], ", "), place)
	}
	return out.String()
}

// place omits the commit of records from before commits were recorded.
func (r record) place() string {
	if r.Commit == "" {
		return fmt.Sprintf("%d rounds; %s", len(r.Rounds), r.Machine)
	}
	return fmt.Sprintf("%d rounds; commit %s; %s", len(r.Rounds), r.Commit, r.Machine)
}

// median expects sorted values.
func median(sorted []float64) float64 {
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// threeDigits keeps three significant digits, and all digits before the decimal point.
func threeDigits(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil || v >= 1000 || v <= -1000 {
		rounded = v
		return strconv.FormatFloat(rounded, 'f', 0, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// replaceSection replaces the text between the markers of a section of a document.
func replaceSection(path, section, text string) error {
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := "<!-- perf:"+section+":begin -->\n", "<!-- perf:"+section+":end -->"
	before, rest, begins := strings.Cut(string(document), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return fmt.Errorf("%s: wanted the lines %q and %q around the table, found at most one of them; add them where the table belongs", path, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}
