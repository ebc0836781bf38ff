package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
)

// contest is one load, put on the same etcd by each side in turn.
type contest struct {
	// name chooses it on the command line.
	name string
	// what the load is, for people.
	what  string
	sides []side
	// secure: etcd serves TLS.
	secure bool
	// figures are what is told of it.
	figures []figure
}

// side is one contestant.
type side struct {
	name string
	run  func(context.Context, *arena) (sample, error)
}

// figure is one number of a contest, for each round: a metric of one side, or
// that divided by the other side's.
type figure struct {
	what   string
	metric metric
	// of and by are names of sides; by is empty for a number that stands alone.
	of, by string
	bound  bound
}

// bound is what a figure must reach.
type bound struct {
	low, high float64
	text      string
}

func atMost(v float64) bound  { return bound{math.Inf(-1), v, fmt.Sprintf("≤ %g", v)} }
func atLeast(v float64) bound { return bound{v, math.Inf(1), fmt.Sprintf("≥ %g", v)} }

// within is a share of a number around it.
func within(share, v float64) bound {
	return bound{v * (1 - share), v * (1 + share), fmt.Sprintf("%g ± %g %%", v, 100*share)}
}

func exactly(v float64) bound { return bound{v, v, fmt.Sprintf("%g", v)} }

// reported has nothing to reach.
func reported() bound { return bound{math.Inf(-1), math.Inf(1), ""} }

func (b bound) holds(v float64) bool { return v >= b.low && v <= b.high }

// round is what all sides of a contest did, one after the other.
type round map[string]sample

// arena is where a contest takes place.
type arena struct {
	programs programs
	server   *server
}

// programs are the paths of what runs.
type programs struct{ etcd, loadgen, benchmark, newerBenchmark string }

// hold runs a contest for a number of rounds, on an etcd of its own.
func (c contest) hold(ctx context.Context, p programs, tmpfs string, rounds int, progress io.Writer) (all []round, err error) {
	s, err := startServer(ctx, p.etcd, tmpfs, c.secure)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	a := &arena{programs: p, server: s}
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

// round lets another side be first each time.
func (c contest) round(ctx context.Context, a *arena, number int) (round, error) {
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

func (c contest) report(w io.Writer, r round) {
	for _, f := range c.figures {
		fmt.Fprintf(w, "; %s %s", f.what, threeDigits(f.value(r)))
	}
	fmt.Fprintln(w)
}

// value of a figure in a round; not a number, if it is not known.
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
