package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/search"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// Settings of a search that no flag sets.
const (
	rateTolerance  = 0.05
	confirmations  = 3
	maxProbes      = 40
	highestMaxRate = 10_000_000
	// probeWarmup is in seconds.
	probeWarmup = 3
	// maxProbeSeconds bounds the length of a probe with few requests a second.
	maxProbeSeconds = 300
)

// findFlags are the flags of a search.
type findFlags struct {
	findRate         bool
	minRate, maxRate int64
	probeSeconds     int32
}

func (f *runFlags) checkFind() error {
	for _, flag := range []string{"min-rate", "max-rate", "probe-seconds"} {
		if f.given(flag) && !f.find.findRate {
			return fmt.Errorf("--%s is for a search: add --find-rate", flag)
		}
	}
	if !f.find.findRate {
		return nil
	}
	switch {
	case !f.local:
		return errors.New("--find-rate works only on this machine so far: add --local")
	case f.find.minRate < 1 || f.find.maxRate > highestMaxRate || f.find.minRate > f.find.maxRate:
		return fmt.Errorf("--min-rate, --max-rate: wanted 1 or more, at most %d, and the lower one first, found %d and %d", highestMaxRate, f.find.minRate, f.find.maxRate)
	case f.find.probeSeconds < 1 || f.find.probeSeconds > 3600:
		return fmt.Errorf("--probe-seconds: wanted 1 to 3600, found %d", f.find.probeSeconds)
	case f.strict || f.given("interval"):
		return errors.New("--strict and --interval are for a single run: remove them")
	}
	for _, d := range f.destinations {
		if d.form.name != outputTable && d.form.name != outputJSON {
			return fmt.Errorf("--output: a search has no form %s: use %s or %s", d.form.name, outputTable, outputJSON)
		}
	}
	return nil
}

// rateSearch runs the probes of a search on this machine.
type rateSearch struct {
	*tool
	flags    *runFlags
	manifest *manifest.Manifest
	runs     *admission.Schema[v1alpha1.EtcdBenchmark]
	found    render.Search
	// requests is how many requests a probe needs, because of the percentiles of the objectives.
	requests int64
}

func (t *tool) searchRate(f *runFlags, m *manifest.Manifest) error {
	if m.Object.GetNamespace() == "" {
		m.Object.SetNamespace(defaultNamespace)
	}
	if err := f.setTarget(m); err != nil {
		return err
	}
	s := &rateSearch{tool: t, flags: f, manifest: m}
	var err error
	if s.runs, err = admission.Runs(); err != nil {
		return err
	}
	run, err := s.admit(search.Step{Role: search.Sweep, PerSecond: f.find.minRate})
	if err != nil {
		return err
	}
	if run.Spec.Profile != "" {
		return m.Refuse("spec.profile", "fixes the rate, and --find-rate looks for one: replace it with workload, load and objectives")
	}
	if !slices.ContainsFunc(run.Resolved().Objectives, limitsRate) {
		return m.Refuse("spec.objectives", "wanted a limit that a higher rate misses, of type Latency or AchievedRate, found none: --find-rate looks for the highest rate that meets the objectives")
	}
	if err := f.options.Validate(run); err != nil {
		return err
	}
	s.found.Name, s.requests = m.Object.GetName(), requestsFor(run.Resolved().Objectives)
	return s.run()
}

func limitsRate(o v1alpha1.Objective) bool {
	return o.Type == v1alpha1.ObjectiveLatency || o.Type == v1alpha1.ObjectiveAchievedRate
}

// admit returns the run of a probe: the manifest with another rate and another duration. The ceiling is a closed loop
// without objectives.
func (s *rateSearch) admit(step search.Step) (*v1alpha1.EtcdBenchmark, error) {
	m := s.manifest.Copy()
	name := m.Object.GetName()
	m.Object.SetName(fmt.Sprintf("%s-%d", name, len(s.found.Probes)+1))
	arrival, _ := m.Text("spec.load.rate.arrival")
	for _, field := range []string{"spec.load.requests", "spec.load.rate"} {
		m.Drop(field)
	}
	// Each probe has other arrivals and other keys, so that none repeats the luck of another.
	seed, _, _ := unstructured.NestedInt64(m.Object.Object, "spec", "load", "seed")
	m.Set("--find-rate", "spec.load.seed", seed+int64(len(s.found.Probes)))
	m.Set("--probe-seconds", "spec.load.durationSeconds", s.seconds(step))
	if !m.Has("spec.load.warmupSeconds") {
		m.Set("--find-rate", "spec.load.warmupSeconds", int64(probeWarmup))
	}
	if step.Role == search.Ceiling {
		m.Drop("spec.objectives")
	} else {
		if arrival == "" {
			arrival = "Poisson"
		}
		m.Set("--find-rate", "spec.load.rate", map[string]any{"perSecond": step.PerSecond, "arrival": arrival})
	}
	run, err := s.runs.Create(m.Object, time.Now())
	if err != nil {
		return nil, m.Explain(err)
	}
	return run, nil
}

// seconds is the length of a probe: long enough for the percentiles of the objectives.
func (s *rateSearch) seconds(step search.Step) int64 {
	seconds := int64(s.flags.find.probeSeconds)
	if step.PerSecond > 0 {
		seconds = max(seconds, min((s.requests+step.PerSecond-1)/step.PerSecond, maxProbeSeconds))
	}
	return seconds
}

// requestsFor is how many requests the percentiles of the objectives need, with a reserve because arrivals are random.
func requestsFor(objectives []v1alpha1.Objective) (most int64) {
	const reserve = 1.2
	for _, o := range objectives {
		if o.Latency != nil && slices.Contains(results.Percentiles, o.Latency.Statistic) {
			beyond := 1 - results.QuantileOf(o.Latency.Statistic)
			most = max(most, int64(math.Ceil(reserve*results.MinBeyond/beyond)))
		}
	}
	return most
}

func (s *rateSearch) run() error {
	settings := search.Settings{
		MinPerSecond: s.flags.find.minRate, MaxPerSecond: s.flags.find.maxRate, Tolerance: rateTolerance, Confirmations: confirmations, MaxProbes: maxProbes,
	}
	var past []search.Probe
	for {
		step, more, result := search.Next(settings, past)
		if !more {
			s.found.Result = result
			return s.conclude("")
		}
		run, err := s.runProbe(step)
		if err != nil {
			return err
		}
		past = append(past, render.AddProbe(&s.found, step, run))
		if finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); verdict.CouldNotRun(finished.Reason) || finished.Reason == v1alpha1.ReasonStopped {
			s.found.Result = search.Result{State: search.Undecided, PerSecond: search.Best(past), Limit: endOf(finished)}
			return s.conclude(finished.Reason)
		}
	}
}

func (s *rateSearch) runProbe(step search.Step) (*v1alpha1.EtcdBenchmark, error) {
	run, err := s.admit(step)
	if err != nil {
		return nil, err
	}
	screen := s.tool.screen()
	defer screen.Close()
	screen.Notice(render.StepText(len(s.found.Probes)+1, step))
	options := s.flags.options
	options.Show, options.Notice, options.Stop = screen.Show, screen.Notice, s.interrupts.end
	if _, err = local.Run(s.interrupts.leave, run, options); errors.Is(err, local.ErrLeft) {
		return nil, &exitError{exitUnknown, err}
	}
	return run, err
}

// endOf says why a search ended with a probe.
func endOf(finished *metav1.Condition) string {
	if finished.Reason == v1alpha1.ReasonStopped {
		return "it was stopped"
	}
	return fmt.Sprintf("a probe ended as %s: %s", finished.Reason, finished.Message)
}

// conclude writes the result. ended is how a probe ended that could not do its load; empty if the search is over.
func (s *rateSearch) conclude(ended string) error {
	if err := s.flags.destinations.write(s.Out, func(f form, out io.Writer) error {
		if f.name == outputTable {
			return render.WriteSearch(out, s.found)
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(s.found)
	}); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	switch {
	case ended != "" && ended != v1alpha1.ReasonStopped:
		return &exitError{status: exitFailed}
	case s.found.Result.State == search.Found || s.found.Result.State == search.AtLeast:
		return nil
	case s.found.Result.State == search.BelowMinimum:
		return &exitError{status: exitMissed}
	}
	return &exitError{status: exitUnknown}
}
