package results

import (
	"fmt"
	"time"
)

const (
	// MaxHeatmapColumns bounds a heatmap. When it would grow beyond that, the interval length is doubled.
	MaxHeatmapColumns = 150
	// HeatmapSchema is the resolution of a heatmap: eight buckets per doubling, so a percentile is exact to 5 %.
	HeatmapSchema = 3
)

// Heatmap has the latency of successful measured requests over time: one coarse histogram for each interval, by the time
// of the response, from the start of the pod's window. The zero Heatmap is empty. It usually takes 100 KB, and at most 400 KB.
type Heatmap struct {
	// Interval is the length of each column: 100 ms, doubled as often as needed; 0 while there is no column.
	Interval time.Duration
	Columns  []Histogram
}

// Record counts a success at this offset from the window's start.
func (m *Heatmap) Record(offset, latency time.Duration) {
	m.column(offset).Record(int64(latency))
}

// column returns the column of an offset, creating it if needed.
func (m *Heatmap) column(offset time.Duration) *Histogram {
	if last := len(m.Columns) - 1; isWithin(offset, last, m.Interval) {
		return &m.Columns[last]
	}
	if m.Interval == 0 {
		m.Interval, m.Columns = TimelineInterval, make([]Histogram, 0, MaxHeatmapColumns)
	}
	at := int(max(offset, 0) / m.Interval)
	for at >= MaxHeatmapColumns {
		m.halve()
		at /= 2
	}
	for len(m.Columns) <= at {
		m.Columns = append(m.Columns, Histogram{halvings: MaxSchema - HeatmapSchema})
		// Few responses are recorded later than those of the next interval, so its buckets can be cut to size.
		if done := len(m.Columns) - 3; done >= 0 {
			m.Columns[done].trim()
		}
	}
	return &m.Columns[at]
}

// Merge adds the columns of another heatmap. It assumes that both windows started at the same time.
func (m *Heatmap) Merge(other *Heatmap) {
	if other.Interval == 0 {
		return
	}
	if m.Interval == 0 {
		m.Interval = other.Interval
	}
	for m.Interval < other.Interval {
		m.halve()
	}
	for i := range other.Columns {
		column := m.column(time.Duration(i) * other.Interval)
		column.Merge(&other.Columns[i])
		column.trim()
	}
}

// Folded returns the heatmap with at most this many columns, each at least this long.
func (m *Heatmap) Folded(columns int, atLeast time.Duration) Heatmap {
	folded := Heatmap{}
	folded.Merge(m)
	for len(folded.Columns) > max(columns, 1) || len(folded.Columns) > 0 && folded.Interval < min(atLeast, maxTimeline) {
		folded.halve()
	}
	return folded
}

// halve merges each pair of columns into one.
func (m *Heatmap) halve() {
	m.Interval *= 2
	m.Columns = pairwise(m.Columns, func(column, next *Histogram) {
		column.Merge(next)
		column.trim()
	})
}

// pairwise merges each second element into the one before it, in place.
func pairwise[T any](all []T, merge func(into, next *T)) []T {
	half := (len(all) + 1) / 2
	for i := range half {
		if 2*i+1 < len(all) {
			merge(&all[2*i], &all[2*i+1])
		}
		all[i] = all[2*i]
	}
	clear(all[half:])
	return all[:half]
}

// check requires intervals that can be merged, and bounds resolution and counts.
func (m *Heatmap) check() error {
	if len(m.Columns) > MaxHeatmapColumns {
		return fmt.Errorf("wanted at most %d columns, found %d", MaxHeatmapColumns, len(m.Columns))
	}
	if err := checkInterval(m.Interval, len(m.Columns)); err != nil {
		return err
	}
	var total uint64
	for i := range m.Columns {
		column := &m.Columns[i]
		if column.count > 0 && column.Schema() > HeatmapSchema {
			return fmt.Errorf("wanted columns of schema %d at most, found %d", HeatmapSchema, column.Schema())
		}
		if err := column.check(); err != nil {
			return err
		}
		if total += column.count; total > MaxCount {
			return fmt.Errorf("wanted at most %d requests over time, found more", uint64(MaxCount))
		}
	}
	return nil
}
