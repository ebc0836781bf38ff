package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// localSuite runs a suite on this machine.
type localSuite struct {
	*tool
	flags    *runFlags
	manifest *manifest.Manifest
	suite    *v1alpha1.EtcdBenchmarkSuite
	runs     *admission.Schema[v1alpha1.EtcdBenchmark]
}

func (f *runFlags) checkSuite() error {
	switch {
	case !f.local:
		return errors.New("an EtcdBenchmarkSuite runs only on this machine so far: add --local")
	case f.find.findRate:
		return errors.New("--find-rate takes the manifest of a single run: remove it, or give an EtcdBenchmark")
	case f.strict:
		return errors.New("--strict is for a single run: remove it")
	case f.given("interval"):
		return errors.New("--interval is for a single run: remove it")
	}
	for _, d := range f.destinations {
		if d.form.writeSuite == nil {
			return fmt.Errorf("--output: a suite has no form %s: use %s, %s or yaml", d.form.name, outputTable, outputJSON)
		}
	}
	return nil
}

func (t *tool) runSuite(f *runFlags, m *manifest.Manifest) error {
	if m.Object.GetNamespace() == "" {
		m.Object.SetNamespace(defaultNamespace)
	}
	suites, err := admission.Suites()
	if err != nil {
		return err
	}
	admitted, err := suites.Create(m.Object, time.Now())
	if err != nil {
		return m.Explain(err)
	}
	if n := len(admitted.Spec.Targets); n > 1 && (f.options.EmbeddedMembers > 0 || len(f.endpoints) > 0) && !differInMembers(admitted.Spec.Targets) {
		return fmt.Errorf("--embedded-members and --endpoints replace the addresses of all %d targets of the suite, so that all would be the same: remove the flag, or leave one target", n)
	}
	if admitted.Spec.Stop {
		return m.Refuse("spec.stop", "found true, which stops a suite: remove it to run this manifest")
	}
	if err := suite.Check(admitted); err != nil {
		return err
	}
	l := &localSuite{tool: t, flags: f, manifest: m, suite: admitted}
	if l.runs, err = admission.Runs(); err != nil {
		return err
	}
	if err := l.checkCells(); err != nil {
		return err
	}
	return l.run()
}

// differInMembers reports whether each target is another choice of members, for example the leader and all.
func differInMembers(targets []v1alpha1.SuiteTarget) bool {
	seen := map[any]bool{}
	for _, t := range targets {
		if seen[t.Target.Members] {
			return false
		}
		seen[t.Target.Members] = true
	}
	return true
}

// checkCells admits a run of each cell before the first one starts.
func (l *localSuite) checkCells() error {
	for _, p := range suite.Plan(l.suite) {
		if p.Round > 1 {
			break
		}
		run, err := l.admit(p)
		if err == nil {
			err = l.flags.options.Validate(run)
		}
		if err != nil {
			return fmt.Errorf("the cell %s: %w", p.Cell.Name, err)
		}
	}
	return nil
}

// admit returns the run that a cluster would have created.
func (l *localSuite) admit(p suite.Planned) (*v1alpha1.EtcdBenchmark, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p.Run(l.suite))
	if err != nil {
		return nil, fmt.Errorf("writing the run %s: %w", p.Name, err)
	}
	delete(object, "status")
	m := l.manifest.Of(l.places(p.Cell), &unstructured.Unstructured{Object: object})
	if err := l.flags.setTarget(m); err != nil {
		return nil, err
	}
	run, err := l.runs.Create(m.Object, time.Now())
	if err != nil {
		return nil, m.Explain(err)
	}
	return run, nil
}

func (l *localSuite) places(c suite.Cell) manifest.Cell {
	s := l.suite.Spec
	return manifest.Cell{
		Target:   slices.IndexFunc(s.Targets, func(t v1alpha1.SuiteTarget) bool { return t.Name == c.Target.Name }),
		Workload: slices.IndexFunc(s.Workloads, func(w v1alpha1.SuiteWorkload) bool { return w.Name == c.Workload.Name }),
		Load:     slices.IndexFunc(s.Loads, func(load v1alpha1.SuiteLoad) bool { return load.Name == c.Load.Name }),
	}
}

// run runs all runs, one after the other, and writes the result.
func (l *localSuite) run() error {
	s := l.suite
	s.Status.StartTime, s.Status.Seed = new(metav1.Now()), s.Spec.Seed
	if s.Status.Seed == nil {
		s.Status.Seed = new(rand.Int64N(1 << 31))
	}
	suite.Update(s)
	stopped := false
	for !stopped {
		p, more := suite.Next(s)
		if !more {
			break
		}
		result, err := l.runOne(p)
		if err != nil {
			return errors.Join(err, l.write(true))
		}
		s.Status.Results = append(s.Status.Results, result)
		suite.Update(s)
		if _, more = suite.Next(s); isClosed(l.interrupts.end) && (more || result.Reason == v1alpha1.ReasonStopped) {
			stopped = true
		}
		if suite.Failed(result) && s.Spec.OnRunFailed == v1alpha1.RunFailedStop {
			break
		}
	}
	return l.conclude(stopped)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (l *localSuite) runOne(p suite.Planned) (v1alpha1.SuiteResult, error) {
	run, err := l.admit(p)
	if err != nil {
		return v1alpha1.SuiteResult{}, err
	}
	screen := l.tool.screen()
	defer screen.Close()
	screen.Notice(l.progress(p))
	options := l.flags.options
	options.Show, options.Notice, options.Stop = screen.Show, screen.Notice, l.interrupts.end
	_, err = local.Run(l.interrupts.leave, run, options)
	if errors.Is(err, local.ErrLeft) {
		return v1alpha1.SuiteResult{}, &exitError{exitUnknown, err}
	}
	if err != nil {
		return v1alpha1.SuiteResult{}, fmt.Errorf("the cell %s: %w", p.Cell.Name, err)
	}
	return suite.Result(l.suite, p, run), nil
}

// progress says which run starts, and how long the rest will take.
func (l *localSuite) progress(p suite.Planned) string {
	s := l.suite
	line := fmt.Sprintf("Run %d of %d: %s, round %d.", int(s.Status.Runs.Planned)-suite.Left(s)+1, s.Status.Runs.Planned, p.Cell.Name, p.Round)
	if p.Repeats {
		line = fmt.Sprintf("Repetition of an invalid run: %s, round %d.", p.Cell.Name, p.Round)
	}
	if left := suite.Estimate(s, time.Now()); left > 0 {
		line += fmt.Sprintf(" All runs end in about %s.", left.Round(time.Second))
	}
	return line
}

// conclude writes the result and returns the exit status.
func (l *localSuite) conclude(stopped bool) error {
	if err := l.write(stopped); err != nil {
		return err
	}
	if status := statusOfSuite(l.suite); status != exitDone {
		return &exitError{status: status}
	}
	return nil
}

// write sets the conditions and writes the result.
func (l *localSuite) write(stopped bool) error {
	s := l.suite
	now := metav1.Now()
	s.Status.CompletionTime = &now
	reason, message := suite.Finish(s, stopped)
	meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: now})
	if passed := suite.Judge(s); passed != nil {
		passed.LastTransitionTime = now
		meta.SetStatusCondition(&s.Status.Conditions, *passed)
	}
	if err := l.flags.destinations.write(l.Out, func(f form, out io.Writer) error { return f.writeSuite(out, s) }); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// statusOfSuite is the exit status of a finished suite.
func statusOfSuite(s *v1alpha1.EtcdBenchmarkSuite) int {
	passed := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed)
	switch finished := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionFinished); {
	case finished.Reason == v1alpha1.ReasonStopped:
		return exitUnknown
	case passed != nil && passed.Status == metav1.ConditionFalse:
		return exitMissed
	case suite.Unmeasured(s) > 0:
		return exitFailed
	case passed != nil && passed.Status == metav1.ConditionUnknown:
		return exitUnknown
	}
	return exitDone
}

func shownSuite(s *v1alpha1.EtcdBenchmarkSuite) *v1alpha1.EtcdBenchmarkSuite {
	s = s.DeepCopy()
	s.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(manifest.SuiteKind))
	return s
}

func writeSuiteJSON(out io.Writer, s *v1alpha1.EtcdBenchmarkSuite) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(shownSuite(s))
}

func writeSuiteYAML(out io.Writer, s *v1alpha1.EtcdBenchmarkSuite) error {
	data, err := yaml.Marshal(shownSuite(s))
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}
