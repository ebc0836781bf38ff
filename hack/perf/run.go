package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// sections are the groups of contests, each a section of the document and a command of its own.
var sections = []string{"clients", "memory", "parity"}

// options are the command line of a section.
type options struct {
	rows  []string
	pairs int
	size  size
	// store keeps every value, document gets the table; empty is nowhere.
	store, document string
	tmpfs           string
	list            bool
}

// run holds the contests of a section as args say. A bound that is missed is no
// error, a contest that could not be held is.
func run(ctx context.Context, section string, args []string, stdout, progress io.Writer) error {
	o, err := parse(section, args, progress)
	if err != nil {
		return err
	}
	all := contestsOf(section, o.size)
	chosen, err := choose(all, o.rows)
	if err != nil || o.list {
		list(stdout, chosen)
		return err
	}
	kept, err := readRecords(o.store)
	if err != nil {
		return err
	}
	programs, err := findPrograms()
	if err != nil {
		return err
	}
	failed := hold(ctx, o, programs, chosen, kept, progress)
	text := table(all, kept)
	fmt.Fprint(stdout, text)
	if o.document != "" {
		failed = errors.Join(failed, replaceSection(o.document, section, text))
	}
	return failed
}

// hold holds the contests one after the other, and keeps each as it ends, also one that
// somebody ends in the middle.
func hold(ctx context.Context, o options, p programs, chosen []contest, kept records, progress io.Writer) (failed error) {
	for _, c := range chosen {
		measured := record{Machine: describeMachine(), Commit: describeCommit(ctx, ".")}
		rounds, err := c.hold(ctx, p, o.tmpfs, o.pairs, progress)
		if err != nil {
			failed = errors.Join(failed, err)
			// Rounds that were held are worth keeping, unless there were more before.
			if len(rounds) <= len(kept[c.name].Rounds) {
				continue
			}
		}
		measured.Rounds = rounds
		kept[c.name] = measured
		if err := kept.write(o.store); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

func parse(section string, args []string, output io.Writer) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("perf "+section, flag.ContinueOnError)
	flags.SetOutput(output)
	rows := flags.String("rows", "", "hold these contests alone, by `name,name`; -list has the names")
	flags.IntVar(&o.pairs, "pairs", 7, "how often each side has its turn")
	flags.Int64Var(&o.size.requests, "requests", 0, "requests of each closed loop; 0 is what the contest has by itself")
	flags.IntVar(&o.size.seconds, "seconds", 0, "length of each open loop in seconds; 0 is what the contest has by itself")
	flags.IntVar(&o.size.connections, "connections", 0, "connections of the contests about their memory; 0 is 10,000")
	flags.StringVar(&o.store, "out", filepath.Join("out", "perf", section+".json"), "`file` that keeps every single value")
	flags.StringVar(&o.document, "doc", filepath.Join("docs", "performance.md"), "`file` whose section gets the table; empty for none")
	flags.StringVar(&o.tmpfs, "tmpfs", "/dev/shm", "`folder` in memory for etcd's data")
	flags.BoolVar(&o.list, "list", false, "list the contests and exit")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *rows != "" {
		o.rows = strings.Split(*rows, ",")
	}
	if o.pairs < 1 || min(o.size.requests, int64(o.size.seconds), int64(o.size.connections)) < 0 || flags.NArg() > 0 {
		return o, fmt.Errorf("perf %s: wanted at least one pair, no negative number and no further argument, found %q", section, args)
	}
	return o, nil
}

func contestsOf(section string, z size) []contest {
	switch section {
	case "memory":
		return memoryContests(z)
	case "parity":
		return parityContests(z)
	}
	return contests(z)
}

// choose returns the contests that are named, in their own order; all, if none
// is.
func choose(all []contest, names []string) ([]contest, error) {
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(c contest) bool { return c.name == name }) {
			return all, fmt.Errorf("-rows: no contest is called %q", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c contest) bool { return !slices.Contains(names, c.name) }), nil
}

func list(w io.Writer, all []contest) {
	for _, c := range all {
		fmt.Fprintf(w, "%-16s %s\n", c.name, c.what)
	}
}

// findPrograms wants to be run from the root of the checkout.
func findPrograms() (programs, error) {
	tools := filepath.Join("bin", "tools")
	p := programs{
		etcd: filepath.Join(tools, "etcd"), loadgen: filepath.Join("bin", "loadgen"),
		benchmark: filepath.Join(tools, "benchmark"), newerBenchmark: filepath.Join(tools, "benchmark-3.7"),
	}
	for _, path := range []string{p.etcd, p.loadgen, p.benchmark, p.newerBenchmark} {
		if _, err := os.Stat(path); err != nil {
			return p, fmt.Errorf("wanted the program %s: run `make build tools-etcd tools-benchmark tools-benchmark-3.7`, and this from the root of the checkout: %w", path, err)
		}
	}
	return p, nil
}

// describeMachine says what the numbers depend on.
func describeMachine() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("unknown")
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte("unknown")
	}
	return fmt.Sprintf("%s, %d processors, %s/%s, kernel %s, load average before %s", time.Now().UTC().Format(time.DateOnly),
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, strings.TrimSpace(string(kernel)), strings.Join(strings.Fields(string(load))[:1], ""))
}
