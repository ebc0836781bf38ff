package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := errors.New("usage: go run ./hack/perf clients|memory|parity|fio [flags]; -h after one of them lists its flags")
	if args := os.Args[1:]; len(args) > 0 && args[0] == "fio" {
		err = runFio(ctx, args[1:], os.Stdout)
	} else if len(args) > 0 && slices.Contains(sections, args[0]) {
		err = run(ctx, args[0], args[1:], os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}

// sections are the groups of comparisons. Each is a section of the document and a command.
var sections = []string{"clients", "memory", "parity"}

// options are the command line of a section.
type options struct {
	rows  []string
	pairs int
	size  size
	// store is the file for every value, document the one for the table; empty means none.
	store, document string
	tmpfs           string
	list            bool
}

// run measures the comparisons of a section that args select. A missed bound is not an error; a comparison that failed
// is.
func run(ctx context.Context, section string, args []string, stdout, progress io.Writer) error {
	o, err := parse(section, args, progress)
	if err != nil {
		return err
	}
	all := comparisonsOf(section, o.size)
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
	failed := measureAll(ctx, o, programs, chosen, kept, progress)
	text := table(all, kept)
	fmt.Fprint(stdout, text)
	if o.document != "" {
		failed = errors.Join(failed, replaceSection(o.document, section, text))
	}
	return failed
}

// measureAll measures the comparisons one after the other. It saves each when it ends, even if it was interrupted.
func measureAll(ctx context.Context, o options, p programs, chosen []comparison, kept records, progress io.Writer) (failed error) {
	for _, c := range chosen {
		measured := record{Machine: describeMachine(), Commit: describeCommit(ctx, ".")}
		rounds, err := c.measure(ctx, p, o.tmpfs, o.pairs, progress)
		if err != nil {
			failed = errors.Join(failed, err)
			// Keep an incomplete comparison, unless the saved one has more rounds.
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
	rows := flags.String("rows", "", "run only these comparisons, as `name,name`; see -list")
	flags.IntVar(&o.pairs, "pairs", 7, "rounds; each side runs once per round")
	flags.Int64Var(&o.size.requests, "requests", 0, "requests of each closed loop; 0 means the default of the comparison")
	flags.IntVar(&o.size.seconds, "seconds", 0, "length of each open loop in seconds; 0 means the default of the comparison")
	flags.IntVar(&o.size.connections, "connections", 0, "connections of the comparisons of memory per connection; 0 means 10,000")
	flags.StringVar(&o.store, "out", filepath.Join("out", "perf", section+".json"), "`file` for every single value")
	flags.StringVar(&o.document, "doc", filepath.Join("hack", "perf", "results.md"), "`file` whose section gets the table; empty for none")
	flags.StringVar(&o.tmpfs, "tmpfs", "/dev/shm", "`folder` in memory for etcd's data")
	flags.BoolVar(&o.list, "list", false, "list the comparisons and exit")
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

func comparisonsOf(section string, z size) []comparison {
	switch section {
	case "memory":
		return memoryComparisons(z)
	case "parity":
		return parityComparisons(z)
	}
	return comparisons(z)
}

// choose returns the named comparisons, in catalogue order; all of them if no name is given.
func choose(all []comparison, names []string) ([]comparison, error) {
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(c comparison) bool { return c.name == name }) {
			return all, fmt.Errorf("-rows: no comparison is called %q", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c comparison) bool { return !slices.Contains(names, c.name) }), nil
}

func list(w io.Writer, all []comparison) {
	for _, c := range all {
		fmt.Fprintf(w, "%-16s %s\n", c.name, c.what)
	}
}

// findPrograms must be called in the root of the checkout.
func findPrograms() (programs, error) {
	tools := filepath.Join("bin", "tools")
	p := programs{
		etcd: filepath.Join(tools, "etcd"), loadgen: filepath.Join("bin", "loadgen"), plugin: filepath.Join("bin", "kubectl-etcdbench"),
		benchmark: filepath.Join(tools, "benchmark"), newerBenchmark: filepath.Join(tools, "benchmark-3.7"),
	}
	for _, path := range []string{p.etcd, p.loadgen, p.plugin, p.benchmark, p.newerBenchmark} {
		if _, err := os.Stat(path); err != nil {
			return p, fmt.Errorf("wanted the program %s: run `make build tools-etcd tools-benchmark tools-benchmark-3.7`, and run perf from the root of the checkout: %w", path, err)
		}
	}
	return p, nil
}

// describeMachine describes the machine that produced the numbers.
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
