package render

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// columnGap lies between the columns of a grid.
const columnGap = "  "

// grid is a table of text. The first columns are aligned left, the others right, as numbers are.
type grid struct {
	// left is the number of columns that are aligned left.
	left int
	rows [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// known omits the columns in which no row below the first one has a value: a store does not have all figures.
func (g *grid) known() grid {
	shown := grid{left: g.left, rows: make([][]string, len(g.rows))}
	for column := range g.rows[0] {
		if slices.ContainsFunc(g.rows[1:], func(row []string) bool { return row[column] != unknown }) {
			for i, row := range g.rows {
				shown.rows[i] = append(shown.rows[i], row[column])
			}
		}
	}
	return shown
}

// String returns the rows. Each column is as wide as its widest cell.
func (g *grid) String() string {
	var out strings.Builder
	widths := g.widths()
	for _, row := range g.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = pad(cell, widths[i], i < g.left)
		}
		out.WriteString(strings.TrimRight(strings.Join(cells, columnGap), " "))
		out.WriteByte('\n')
	}
	return out.String()
}

func (g *grid) widths() []int {
	var widths []int
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func pad(cell string, width int, left bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if left {
		return cell + space
	}
	return space + cell
}
