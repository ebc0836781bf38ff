package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/etcdbench/etcd-benchmark-operator/hack/perf/clients"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

// options are the flags of `perf times`.
type options struct {
	kubeconfig string
	rounds     int
	out        string
}

const usage = "usage: go run ./hack/perf times|clients|memory|parity [flags]; -h after one of them lists its flags"

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "times":
		o, err := parseTimes(args[1:])
		if err != nil {
			return err
		}
		return measureTimes(ctx, o)
	case len(args) > 0 && slices.Contains(clients.Sections(), args[0]):
		return clients.Run(ctx, args[0], args[1:], os.Stdout, os.Stderr)
	}
	return errors.New(usage)
}

func parseTimes(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("times", flag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", filepath.Join("bin", "cluster", "kubeconfig"), "the cluster, with the operator in it")
	flags.IntVar(&o.rounds, "rounds", 10, "how often each side is measured")
	flags.StringVar(&o.out, "out", filepath.Join("out", "perf-times.json"), "where every single value goes")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 1 {
		return o, fmt.Errorf("-rounds: wanted at least 1, found %d", o.rounds)
	}
	return o, nil
}

// measureTimes takes all rounds and reports them.
func measureTimes(ctx context.Context, o options) error {
	l, err := newLab(ctx, o.kubeconfig)
	if err != nil {
		return err
	}
	defer l.close()
	var rounds []round
	for i := range o.rounds {
		r, err := l.measureRound(ctx, i)
		if err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		fmt.Fprintf(os.Stderr, "round %2d of %d: first request %.2f s, bare Job's first line %.2f s, summary %.2f s after the last response\n",
			i+1, o.rounds, r.FirstRequest, r.FirstLine, r.Summary)
		rounds = append(rounds, r)
	}
	if err := writeRounds(o.out, rounds); err != nil {
		return err
	}
	return writeTable(os.Stdout, rounds)
}
