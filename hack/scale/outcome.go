package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

// outcome is what a scene has shown; it is an object of the file of figures.
type outcome struct {
	Scene             string         `json:"scene"`
	Seconds           float64        `json:"seconds"`
	ManagerPeakMB     float64        `json:"managerPeakMB"`
	ManagerCPUPercent float64        `json:"managerCPUPercent"`
	Lists             int            `json:"lists"`
	FullLists         int            `json:"fullLists"`
	Writes            int            `json:"writes"`
	Requests          map[string]int `json:"requests"`
	// Figures are the scene's own.
	Figures map[string]float64 `json:"figures"`
	Bounds  []bound            `json:"bounds"`

	statusWrites map[string][]time.Time
}

// bound is a figure that must be at most or exactly something.
type bound struct {
	Name   string  `json:"name"`
	Found  float64 `json:"found"`
	Wanted string  `json:"wanted"`
	Passed bool    `json:"passed"`
}

func (o *outcome) atMost(name string, found, limit float64) {
	o.Bounds = append(o.Bounds, bound{name, found, fmt.Sprintf("≤ %g", limit), found <= limit})
}

func (o *outcome) exactly(name string, found, wanted float64) {
	o.Bounds = append(o.Bounds, bound{name, found, fmt.Sprintf("= %g", wanted), found == wanted})
}

func (o *outcome) figure(name string, value float64) { o.Figures[name] = value }

// meter measures the manager over a span of time.
type meter struct {
	manager *process
	audit   string
	since   time.Time
	cpu     time.Duration
	offset  int64
}

func (s *stage) startMeter() (*meter, error) {
	m := &meter{manager: s.manager, audit: s.plane.audit, since: time.Now()}
	if err := s.manager.resetPeak(); err != nil {
		return nil, err
	}
	var err error
	if m.cpu, err = s.manager.cpu(); err != nil {
		return nil, err
	}
	m.offset, err = auditSize(m.audit)
	return m, err
}

// read fills in the figures of every scene.
func (m *meter) read(o *outcome) error {
	cpu, err := m.manager.cpu()
	if err != nil {
		return err
	}
	if o.ManagerPeakMB, err = m.manager.peakMB(); err != nil {
		return err
	}
	o.Seconds = time.Since(m.since).Seconds()
	o.ManagerCPUPercent = 100 * (cpu - m.cpu).Seconds() / o.Seconds
	counted, err := readAudit(m.audit, m.offset)
	o.Lists, o.FullLists, o.Writes, o.Requests = counted.Lists, counted.FullLists, counted.Writes, counted.ByKind
	o.statusWrites = counted.StatusWrites
	return err
}

// measured plays something and measures the manager meanwhile.
func (s *stage) measured(o *outcome, play func() error) error {
	m, err := s.startMeter()
	if err != nil {
		return err
	}
	if err := play(); err != nil {
		return err
	}
	return m.read(o)
}

// play plays the scenes in their order and writes the figures after each. When a scene begins, the operator has nothing to do.
func (s *stage) play(ctx context.Context) error {
	for _, scene := range scenes() {
		if !slices.Contains(s.scenes, scene.name) {
			continue
		}
		err := s.awaitQuiet(ctx)
		if err == nil {
			err = s.plane.collectGarbage(ctx)
		}
		if err != nil {
			return fmt.Errorf("before scene %s: %w", scene.name, err)
		}
		s.say("scene %s", scene.name)
		o := outcome{Scene: scene.name, Figures: map[string]float64{}, Bounds: []bound{}}
		if err := scene.play(s, ctx, &o); err != nil {
			return fmt.Errorf("scene %s: %w", scene.name, err)
		}
		s.outcomes = append(s.outcomes, o)
		if err := s.write(); err != nil {
			return err
		}
	}
	return s.printTable()
}

// document is the file of figures.
type document struct {
	Size   string    `json:"size"`
	Sizes  sizes     `json:"sizes"`
	Scenes []outcome `json:"scenes"`
}

func (s *stage) write() error {
	text, err := json.MarshalIndent(document{s.size, s.sizes, s.outcomes}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.options.out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.options.out, append(text, '\n'), 0o644)
}

func (s *stage) printTable() error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scene\tseconds\tCPU %\tpeak MB\tlists\tfull lists\twrites\t")
	for _, o := range s.outcomes {
		fmt.Fprintf(w, "%s\t%.0f\t%.1f\t%.0f\t%d\t%d\t%d\t\n", o.Scene, o.Seconds, o.ManagerCPUPercent, o.ManagerPeakMB, o.Lists, o.FullLists, o.Writes)
	}
	fmt.Fprintln(w, "\nbound\tfound\twanted\tpassed\t")
	for _, o := range s.outcomes {
		for _, b := range o.Bounds {
			fmt.Fprintf(w, "%s: %s\t%.2f\t%s\t%t\t\n", o.Scene, b.Name, b.Found, b.Wanted, b.Passed)
		}
	}
	return w.Flush()
}
