package command

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/advice"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

const diskExample = `  # Is this disk good enough for etcd?
  kubectl etcdbench disk --path /var/lib

  # A page with plots, after five minutes
  kubectl etcdbench disk --path /var/lib --duration 5m -o html=disk.html`

const diskHelp = `Writes a log as etcd does: its own code appends an entry of 2,300 bytes to a file of 64 MB,
whose space is allocated before, and calls fdatasync after each entry. The files have no names,
and are gone when the command ends. It needs no etcd, no manifest and no Kubernetes.

The answer compares the 99th percentile of fdatasync with the limit of etcd's documentation:
10 ms (https://etcd.io/docs/v3.6/faq/ and https://etcd.io/docs/v3.6/op-guide/hardware/).
etcd's limit for commits of its database, 25 ms, needs an etcd: see docs/disk.md.

Memory and the layers of containers are refused, and a disk with files of a running etcd, whose
flushes would take longer.

` + checkExitHelp

// etcd's documented limit, and where it is.
const (
	flushLimit       = 10 * time.Millisecond
	flushLimitSource = "https://etcd.io/docs/v3.6/faq/"
)

// diskFlags are the flags of disk.
type diskFlags struct {
	runFlags
	duration     time.Duration
	rate         int64
	entry        int32
	acknowledged bool
}

func (t *tool) diskCommand() *cobra.Command {
	f := &diskFlags{}
	f.local, f.answer, f.numbers = true, diskAnswer, true
	cmd := &cobra.Command{
		Use:     "disk --path FOLDER",
		Short:   "Say whether a disk is fast enough for etcd",
		Long:    diskHelp,
		Example: diskExample,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			err := t.disk(f)
			return f.adviceOf().Error(err)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.options.DataDir, "path", "", "write the log into this `FOLDER`, for example that of etcd's data")
	flags.DurationVar(&f.duration, "duration", time.Minute, "measure for this time, in whole seconds")
	flags.Int64Var(&f.rate, "rate", 50, "append `N` entries per second; 0 appends one after the other")
	flags.Int32Var(&f.entry, "entry-bytes", 2300, "length of an entry: workload.append.entryBytes")
	flags.BoolVar(&f.acknowledged, "acknowledge-running-etcd", false, "measure a disk although a running etcd has its files there: guard.acknowledgeControlPlane")
	f.addSet(flags)
	f.addOutputFlags(flags, "every 0.5s")
	return cmd
}

func (f *diskFlags) check() error {
	const longest = 24 * time.Hour
	switch {
	case f.options.DataDir == "":
		return errors.New("wanted a folder on the disk, found none: add --path FOLDER, for example the folder of etcd's data")
	case f.duration < time.Second || f.duration > longest || f.duration%time.Second != 0:
		return fmt.Errorf("--duration: wanted 1s to %s in whole seconds, found %s", text.Duration(longest), f.duration)
	case f.entry < 1 || f.entry > spec.MaxEntryBytes:
		return fmt.Errorf("--entry-bytes: wanted 1 to %s, found %d", text.Grouped(spec.MaxEntryBytes), f.entry)
	case f.rate < 0 || f.rate > math.MaxInt32:
		return fmt.Errorf("--rate: wanted 0 or more, found %d", f.rate)
	}
	return f.following.check()
}

func (t *tool) disk(f *diskFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	m, err := manifest.Read("the command", strings.NewReader(f.manifest()))
	if err != nil {
		return err
	}
	return t.runMade(&f.runFlags, m, f.adviceOf())
}

// manifest is the same run as in config/samples, without a volume.
func (f *diskFlags) manifest() string {
	rate := ""
	if f.rate > 0 {
		rate = fmt.Sprintf(", rate: {perSecond: %d}", f.rate)
	}
	seconds := int64(f.duration / time.Second)
	return fmt.Sprintf(`
apiVersion: %s
kind: EtcdBenchmark
metadata: {name: disk}
spec:
  target: {datastore: Disk, disk: {}}
  workload: {type: Append, append: {entryBytes: %d}}
  load: {durationSeconds: %d%s}
  timeoutSeconds: %d
  guard: {acknowledgeControlPlane: %t}
  objectives:
  - {name: flush-p99, type: Latency, latency: {operation: Flush, statistic: P99, maxMicroseconds: %d}}
  - {name: no-errors, type: ErrorRatio, errorRatio: {maxPerMillion: 0}}
`, v1alpha1.GroupVersion, f.entry, seconds, rate, seconds+60, f.acknowledged, flushLimit.Microseconds())
}

// adviceOf is how the user of disk sets fields.
func (f *diskFlags) adviceOf() advice.Command {
	flags := map[string]advice.Flag{
		"workload.append.entryBytes": flag("--entry-bytes"), "load.rate.perSecond": flag("--rate"), "load.rate": flag("--rate"), "load.durationSeconds": flag("--duration"),
		"guard.acknowledgeControlPlane": {Name: "--acknowledge-running-etcd", Switch: true},
	}
	return advice.Command{Flags: flags, Set: true, Fixed: map[string]string{"target": "the command disk", "objectives": "the command disk"}}
}

// electionTimeout is etcd's default. A leader whose log waits longer loses its followers.
const electionTimeout = time.Second

// diskAnswer says in one sentence whether the disk keeps etcd's limit. It claims no more than was measured.
func diskAnswer(run *v1alpha1.EtcdBenchmark) string {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	s := run.Status.Summary
	switch {
	case finished != nil && verdict.CouldNotRun(finished.Reason) && (s == nil || s.MeasuredRequests == 0):
		return "The folder cannot be measured. " + endingOf(run)
	case finished == nil || finished.Reason != v1alpha1.ReasonCompleted || s == nil || passed == nil:
		return "No verdict on this disk: the run ended early. " + endingOf(run)
	}
	found, errors := flushTimes(s), appendErrors(s)
	switch {
	case passed.Status == metav1.ConditionUnknown:
		return "No verdict on this disk: " + whyUnknown(run, passed)
	case errors != "":
		return "Not reliable enough for etcd's log: " + errors
	case passed.Status == metav1.ConditionFalse:
		return "Too slow for etcd's log: " + found
	case slowest(s) > electionTimeout:
		return fmt.Sprintf("Keeps etcd's limit, but not always: one flush took longer than etcd's election timeout (%s), so the leader could change. %s",
			text.Duration(electionTimeout), found)
	}
	return "Fast enough for etcd's log: " + found
}

// whyUnknown is the message of the first objective that could not be judged.
func whyUnknown(run *v1alpha1.EtcdBenchmark, passed *metav1.Condition) string {
	for _, o := range run.Status.Objectives {
		if o.Result == v1alpha1.ObjectiveUnknown && o.Message != "" {
			return o.Message
		}
	}
	return passed.Message
}

// appendErrors counts the requests that failed, with the most frequent error; empty if none did.
func appendErrors(s *v1alpha1.Summary) string {
	o := operationOf(s, spec.OperationAppend)
	if o == nil || o.Failed == 0 {
		return ""
	}
	out := fmt.Sprintf("%s of %s appends failed", text.Grouped(o.Failed), text.Grouped(o.Succeeded+o.Failed+o.Censored))
	if len(o.Errors) > 0 {
		most := slices.MaxFunc(o.Errors, func(a, b v1alpha1.ErrorCount) int { return cmp.Compare(a.Count, b.Count) })
		out += ", most often with " + text.WithExample(most.Code, most.Example)
	}
	return out + "."
}

// flushTimes are the times of the flushes that ended.
func flushTimes(s *v1alpha1.Summary) string {
	o := operationOf(s, spec.OperationFlush)
	if o == nil || o.Latency == nil {
		return "no flush ended."
	}
	return fmt.Sprintf("p99 of %s flushes %s, the slowest %s; etcd's limit for p99 is %s (%s).", text.Grouped(o.Succeeded),
		render.Statistic(o.Latency, spec.StatisticP99), render.Statistic(o.Latency, spec.StatisticMax), text.Duration(flushLimit), flushLimitSource)
}

func slowest(s *v1alpha1.Summary) time.Duration {
	if o := operationOf(s, spec.OperationFlush); o != nil && o.Latency != nil {
		return time.Duration(o.Latency.MaxMicroseconds) * time.Microsecond
	}
	return 0
}

func operationOf(s *v1alpha1.Summary, operation spec.Operation) *v1alpha1.OperationSummary {
	for i, o := range s.Operations {
		if o.Operation == operation {
			return &s.Operations[i]
		}
	}
	return nil
}
