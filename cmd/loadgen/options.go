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

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

type mode int

const (
	modeLoad mode = iota
	modeClean
	modeSample
	modeVersion
	modeHelp
)

// options are the command line. The defaults are the paths that the operator mounts.
type options struct {
	mode            mode
	index           int
	planDir         string
	planDigest      string
	controlDir      string
	terminationFile string
	metricsAddress  string
	datastore       string
	collectGrace    time.Duration
	podTimeout      time.Duration
}

const usage = `loadgen is a client pod of an etcd benchmark. The operator starts it. To run a benchmark
without a cluster, use "kubectl etcdbench run --local" instead.

Usage:
  loadgen [flags]        run this pod's part of the plan
  loadgen clean [flags]  delete the keys that a run has left under its key prefix
  loadgen sample         measure the member in this pod, and serve the result

Exit status:
  0  done
  1  failed; the termination message has the reason
  2  wrong command line
  3  nothing was deleted, because a client pod of the run may still write

Flags:
`

// modes are those with a name on the command line.
var modes = map[string]mode{"clean": modeClean, "sample": modeSample}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{}
	if len(args) > 0 && modes[args[0]] != modeLoad {
		o.mode, args = modes[args[0]], args[1:]
	}
	flags := o.flags(stderr)
	showVersion := flags.Bool("version", false, "print the version and exit")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		o.mode = modeHelp
		return o, nil
	case err != nil:
		return o, fmt.Errorf("%w; loadgen --help lists the flags", err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("found the argument %q, wanted clean, sample or flags; loadgen --help lists them", flags.Arg(0))
	case *showVersion:
		o.mode = modeVersion
		return o, nil
	case o.mode == modeLoad && o.index < 0:
		return o, fmt.Errorf("found no pod index, wanted 0 or more: set --index, or %s, which Kubernetes sets for an Indexed Job", plan.IndexEnv)
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
	o.index = indexFromEnv()
	flags.Func("index", "`INDEX` of this pod, from 0; required if the environment variable "+plan.IndexEnv+" is not set", func(s string) (err error) {
		o.index, err = strconv.Atoi(s)
		return err
	})
	flags.StringVar(&o.planDir, "plan-dir", plan.Dir, "`FOLDER` with the plan, "+plan.File)
	flags.StringVar(&o.planDigest, plan.DigestFlag, "", "`SHA-256` of "+plan.File+" in hexadecimal; a plan with another digest is refused. By default, any plan is accepted")
	flags.StringVar(&o.controlDir, "control-dir", plan.ControlDir, "`FOLDER` with the files that start and stop the run")
	flags.StringVar(&o.terminationFile, "termination-file", plan.TerminationMessageFile, "`FILE` for the result, written before the process exits")
	port := plan.MetricsPort
	if o.mode == modeSample {
		port = plan.SamplerPort
	}
	flags.StringVar(&o.metricsAddress, "metrics-address", ":"+strconv.Itoa(port), "`ADDRESS` at which "+plan.MetricsPath+" and "+plan.ReadyPath+
		" are served; of sample: the result")
	flags.StringVar(&o.datastore, plan.DatastoreFlag, string(spec.DefaultDatastore), "of sample: the `STORE` of the member")
	flags.DurationVar(&o.collectGrace, "collect-grace", plan.CollectGraceSeconds*time.Second,
		"maximum time for which a finished pod serves its final metrics; it stops earlier when the operator has "+
			"collected them. A pod that failed before its measured window uses 3s")
	flags.DurationVar(&o.podTimeout, plan.PodTimeoutFlag, 0, "of clean: how long it waits while a client pod of "+
		"the run still changes its key. After that, and by default at once, it deletes nothing and fails")
	return flags
}

// indexFromEnv is -1 without an index.
func indexFromEnv() int {
	index, err := strconv.Atoi(os.Getenv(plan.IndexEnv))
	if err != nil {
		return -1
	}
	return index
}

// runUID returns the UID of the pod's run, also from a plan that cannot be run, for example one of another version. It
// is empty if the plan has no UID.
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

// readPlan reads the plan. Its errors name the file.
func (o options) readPlan() (plan.Plan, error) {
	path := filepath.Join(o.planDir, plan.File)
	data, err := os.ReadFile(path)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("reading the plan: %w", err)
	}
	if found := plan.Digest(data); o.planDigest != "" && found != o.planDigest {
		return plan.Plan{}, fmt.Errorf("%s: the plan was replaced: found a plan with the SHA-256 %[3]s, wanted the "+
			"operator's with %[2]s. Check who may write ConfigMaps in the run's namespace, then create the run "+
			"again",
			path, o.planDigest, found)
	}
	p, err := plan.Decode(data)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
