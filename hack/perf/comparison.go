package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// comparison is one load that each side in turn puts on the same etcd.
type comparison struct {
	// name selects it on the command line.
	name string
	// what describes the load, for people.
	what  string
	sides []side
	// kind is the etcd that serves.
	kind serverKind
	// figures are the reported figures.
	figures []figure
}

// side is one load generator of a comparison.
type side struct {
	name string
	run  func(context.Context, *testbed) (sample, error)
}

// figure is one number of a comparison, for each round: a metric of one side, or its ratio to the other side's.
type figure struct {
	what   string
	metric metric
	// of and by are names of sides; by is empty for a number that is not a ratio.
	of, by string
	bound  bound
}

// bound is the range that a figure must lie in.
type bound struct {
	low, high float64
	text      string
}

func atMost(v float64) bound  { return bound{math.Inf(-1), v, fmt.Sprintf("≤ %g", v)} }
func atLeast(v float64) bound { return bound{v, math.Inf(1), fmt.Sprintf("≥ %g", v)} }

// within is a range around a number, given as a share of it.
func within(share, v float64) bound {
	return bound{v * (1 - share), v * (1 + share), fmt.Sprintf("%g ± %g %%", v, 100*share)}
}

func exactly(v float64) bound { return bound{v, v, fmt.Sprintf("%g", v)} }

// reported has no limits.
func reported() bound { return bound{math.Inf(-1), math.Inf(1), ""} }

func (b bound) holds(v float64) bool { return v >= b.low && v <= b.high }

// round has the samples of all sides, which ran one after the other.
type round map[string]sample

// testbed is the etcd and the programs of a comparison.
type testbed struct {
	programs programs
	server   *server
}

// programs are the paths of the programs.
type programs struct{ etcd, loadgen, plugin, benchmark, newerBenchmark string }

// measure runs a comparison for a number of rounds, on its own etcd.
func (c comparison) measure(ctx context.Context, p programs, tmpfs string, rounds int, progress io.Writer) (all []round, err error) {
	s, err := startServer(ctx, p.etcd, tmpfs, c.kind)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	a := &testbed{programs: p, server: s}
	for i := range rounds {
		fmt.Fprintf(progress, "%s: round %d of %d", c.name, i+1, rounds)
		r, err := c.round(ctx, a, i)
		if err != nil {
			fmt.Fprintln(progress)
			return all, fmt.Errorf("%s, round %d: %w", c.name, i+1, err)
		}
		all = append(all, r)
		c.report(progress, r)
	}
	return all, nil
}

// round starts with a different side each time.
func (c comparison) round(ctx context.Context, a *testbed, number int) (round, error) {
	r := round{}
	for i := range c.sides {
		s := c.sides[(i+number)%len(c.sides)]
		before, err := a.server.cpu()
		if err != nil {
			return nil, err
		}
		out, err := s.run(ctx, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		after, err := a.server.cpu()
		if err != nil {
			return nil, err
		}
		out[serverCPU] = micros(after-before) / out[requestCount]
		r[s.name] = out
	}
	return r, nil
}

func (c comparison) report(w io.Writer, r round) {
	for _, f := range c.figures {
		fmt.Fprintf(w, "; %s %s", f.what, threeDigits(f.value(r)))
	}
	fmt.Fprintln(w)
}

// value returns a figure's value in a round; NaN if it is unknown.
func (f figure) value(r round) float64 {
	v, known := r[f.of][f.metric]
	divisor, divided := r[f.by][f.metric]
	switch {
	case !known || f.by != "" && !divided:
		return math.NaN()
	case f.by == "":
		return v
	}
	return v / divisor
}

func (f figure) values(rounds []round) []float64 {
	out := make([]float64, 0, len(rounds))
	for _, r := range rounds {
		out = append(out, f.value(r))
	}
	return out
}
