package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

type mode int

const (
	modeLoad mode = iota
	modeClean
	modeVersion
	modeHelp
)

// options are the command line. Its defaults are what the operator mounts.
type options struct {
	mode            mode
	index           int
	planDir         string
	planDigest      string
	controlDir      string
	terminationFile string
	metricsAddress  string
	collectGrace    time.Duration
}

const usage = `loadgen runs one client pod's part of an etcd benchmark. The operator starts it;
"kubectl etcdbench run --local" does the same in its own process.

Usage:
  loadgen [flags]        load the target as the plan says
  loadgen clean [flags]  delete what a run has left under its key prefix

Exit status: 0 its part is done, 1 it could not be done (the termination
message says why), 2 the command line makes no sense.

Flags:
`

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	if len(args) > 0 && args[0] == "clean" {
		o.mode, args = modeClean, args[1:]
	}
	flags := o.flags(stderr)
	showVersion := flags.Bool("version", false, "print the version and exit")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		o.mode = modeHelp
		return o, nil
	case err != nil:
		return o, fmt.Errorf("%w; loadgen --help lists what there is", err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("found the argument %q, wanted flags or clean; loadgen --help lists what there is", flags.Arg(0))
	case *showVersion:
		o.mode = modeVersion
		return o, nil
	case o.mode == modeLoad && o.index < 0:
		return o, fmt.Errorf("found no pod index: set --index, or %s as Kubernetes does for an Indexed Job", plan.IndexEnv)
	}
	return o, nil
}

func (o *options) flags(stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.IntVar(&o.index, "index", indexFromEnv(), "`index` of this pod's part of the plan, from 0; default from "+plan.IndexEnv)
	flags.StringVar(&o.planDir, "plan-dir", plan.Dir, "`folder` with "+plan.File)
	flags.StringVar(&o.planDigest, plan.DigestFlag, "", "`SHA-256` of "+plan.File+" in hexadecimal; another plan is refused. By default any is taken")
	flags.StringVar(&o.controlDir, "control-dir", plan.ControlDir, "`folder` with the files through which the run is started and stopped")
	flags.StringVar(&o.terminationFile, "termination-file", plan.TerminationMessageFile, "`file` to which the result is written at the end")
	flags.StringVar(&o.metricsAddress, "metrics-address", ":"+strconv.Itoa(plan.MetricsPort), "`address` that serves "+plan.MetricsPath+" and "+plan.ReadyPath)
	flags.DurationVar(&o.collectGrace, "collect-grace", plan.CollectGraceSeconds*time.Second, "how long the final metrics are served while nobody has collected them; 3s for a part that failed before its measured window")
	return flags
}

// indexFromEnv is -1 where there is no index.
func indexFromEnv() int {
	index, err := strconv.Atoi(os.Getenv(plan.IndexEnv))
	if err != nil {
		return -1
	}
	return index
}

// runUID returns whose pod this is even where the plan cannot be run, such as
// that of another version; empty if it does not say so.
func (o options) runUID() string {
	var p struct {
		RunUID string `json:"runUID"`
	}
	data, err := os.ReadFile(filepath.Join(o.planDir, plan.File))
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return ""
	}
	return p.RunUID
}

// readPlan reads the plan; what is wrong with it names the file.
func (o options) readPlan() (plan.Plan, error) {
	path := filepath.Join(o.planDir, plan.File)
	data, err := os.ReadFile(path)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("reading the plan: %w", err)
	}
	if found := plan.Digest(data); o.planDigest != "" && found != o.planDigest {
		return plan.Plan{}, fmt.Errorf("%s: somebody has replaced the plan: wanted the operator's, with the SHA-256 %s, found one with %s. See who may write ConfigMaps in the run's namespace, and create the run again",
			path, o.planDigest, found)
	}
	p, err := plan.Decode(data)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
