package command

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/screen"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// localSuite runs a suite on this machine.
type localSuite struct {
	*tool
	flags    *runFlags
	manifest *manifest.Manifest
	suite    *v1alpha1.EtcdBenchmarkSuite
	runs     *admission.Schema[v1alpha1.EtcdBenchmark]
	// ended are runs that have ended, if a form shows them; at most maxKeptRuns. more is how many there were beyond.
	ended []report.Run
	more  int
}

// maxKeptRuns bounds the memory for runs of a suite: each takes up to a megabyte.
const maxKeptRuns = 200

func (t *tool) runSuiteLocally(f *runFlags, m *manifest.Manifest) error {
	s, err := admitted(admission.Suites, m)
	if err != nil {
		return err
	}
	l, err := t.checkedHere(f, m, s)
	if err != nil {
		return err
	}
	return l.run()
}

// checkedHere returns an admitted suite if it can run on this machine.
func (t *tool) checkedHere(f *runFlags, m *manifest.Manifest, s *v1alpha1.EtcdBenchmarkSuite) (*localSuite, error) {
	if err := f.checkPrograms(s.Spec.Targets); err != nil {
		return nil, err
	}
	if err := f.checkTargets(s.Spec.Targets); err != nil {
		return nil, err
	}
	if s.Spec.Stop {
		return nil, m.Refuse("spec.stop", "found true, which stops a suite: remove it to run this manifest")
	}
	l, err := t.checked(f, m, s)
	if err != nil {
		return nil, err
	}
	if err := l.keepBaseline(); err != nil {
		return nil, m.Refuse("spec.compare.baseline.suite", err.Error())
	}
	return l, nil
}

// checkTargets refuses targets that would be the same on this machine.
func (f *runFlags) checkTargets(targets []v1alpha1.SuiteTarget) error {
	if slices.ContainsFunc(targets, func(t v1alpha1.SuiteTarget) bool { return t.Target.Disk != nil }) {
		return errors.New("a suite of disks compares the volumes of a cluster: run it in a cluster, or measure each folder with kubectl etcdbench disk --path FOLDER")
	}
	described := func(t v1alpha1.SuiteTarget) bool { return t.Target.Ephemeral != nil }
	switch n, equal := len(targets), !f.differ(targets); {
	case n < 2 || !equal || f.mayBeEqual:
		return nil
	case f.options.Members == 0 && len(f.access.Endpoints) == 0 && !slices.ContainsFunc(targets, described):
		return nil
	case f.options.Members == 0 && len(f.access.Endpoints) == 0:
		return fmt.Errorf("on this machine, some of the %d targets of the suite would be the same, because image, resources, storage and placement of spec.targets[].target.ephemeral need a cluster: give each target its --member-binary TARGET=FILE, or run the suite in a cluster", n)
	}
	return fmt.Errorf("--members and --endpoints replace the addresses of all %d targets of the suite, so that all would be the same: remove the flag, give each target its --member-binary TARGET=FILE, or leave one target", len(targets))
}

// checked returns the admitted suite of a manifest if all of its cells can run.
func (t *tool) checked(f *runFlags, m *manifest.Manifest, s *v1alpha1.EtcdBenchmarkSuite) (l *localSuite, err error) {
	if err := suite.Check(s); err != nil {
		return nil, err
	}
	if err := f.destinations.check(s); err != nil {
		return nil, err
	}
	l = &localSuite{tool: t, flags: f, manifest: m, suite: s}
	if l.runs, err = admission.Runs(); err != nil {
		return nil, err
	}
	return l, l.checkCells()
}

// keepBaseline reads the suite that this one is compared with. Without a cluster, it is in a file.
func (l *localSuite) keepBaseline() error {
	name, file := suite.NeedsBaseline(l.suite), l.flags.baseline
	switch {
	case name == "" && file == "":
		return nil
	case name == "":
		return errors.New("--baseline is given, but the manifest is compared with no suite: remove the flag, or set the field")
	case file == "":
		return fmt.Errorf("with --local, there is no cluster to read the suite %s from: add --baseline FILE, with a file that \"run -o json\" wrote", name)
	}
	baseline, err := readSuite(file)
	if err != nil {
		return err
	}
	if err := suite.Keep(l.suite, baseline, suite.Histories{}); err != nil {
		return fmt.Errorf("the suite in %s cannot be the baseline: %w", file, err)
	}
	return nil
}

// checkBeforeCreation refuses a suite that the operator would end as InvalidCell. Here the error can name the line of the
// manifest.
func (t *tool) checkBeforeCreation(f *runFlags, m *manifest.Manifest) error {
	s, err := admitted(admission.Suites, m)
	if err != nil {
		// The API server decides: it refuses the suite with the same words, or it has a newer schema than this command.
		return nil
	}
	_, err = t.checked(f, m, s)
	return err
}

// differ reports whether each target is another choice of members, for example the leader and all, or has another program
// or other settings.
func (f *runFlags) differ(targets []v1alpha1.SuiteTarget) bool {
	seen, same := map[string]bool{}, firstNames{}
	for _, t := range targets {
		key := fmt.Sprint(t.Target.Members, ptr.Deref(t.Target.MemberIndex, -1), same.of(f.optionsOf(t.Name).MemberBinary))
		if len(f.access.Endpoints) == 0 {
			key += string(t.Target.Datastore)
		}
		if e := t.Target.Ephemeral; e != nil && len(f.access.Endpoints) == 0 {
			key += fmt.Sprint(e.Settings)
			if f.options.Members == 0 {
				key += fmt.Sprint(e.Replicas)
			}
		}
		if f.options.Members == 0 && len(f.access.Endpoints) == 0 {
			key += fmt.Sprint(t.Target.Endpoints)
		}
		if seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}

// checkCells admits a run of each cell before the first one starts.
func (l *localSuite) checkCells() error {
	for _, p := range suite.Examples(l.suite) {
		run, err := l.admit(p)
		if err == nil && l.flags.local {
			err = l.flags.optionsOf(p.Cell.Target.Name).Validate(run)
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
		// -1 for a search, which has no loads.
		Load: slices.IndexFunc(s.Loads, func(load v1alpha1.SuiteLoad) bool { return load.Name == c.Load.Name }),
	}
}

// run runs all runs, one after the other, and writes the result.
func (l *localSuite) run() error {
	s := l.suite
	suite.Start(s, rand.Int64N(1<<31), time.Now())
	for {
		p, more := suite.Then(s, isClosed(l.interrupts.end))
		if !more {
			return l.finish(isClosed(l.interrupts.end))
		}
		if !l.rest() {
			// Interrupted: the loop ends.
			continue
		}
		if err := l.runOne(p); err != nil {
			if errors.Is(err, local.ErrLeft) {
				suite.SetFinished(l.suite, true, time.Now())
			} else {
				suite.EndAsFailed(l.suite, err, time.Now())
			}
			return errors.Join(err, l.writeSuite(l.suite, l.reported, l.flags.following))
		}
	}
}

// rest waits until the next run may start. It returns false if the suite is interrupted meanwhile.
func (l *localSuite) rest() bool {
	timer := time.NewTimer(suite.Rest(l.suite, time.Now()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.interrupts.end:
		return false
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (l *localSuite) runOne(p suite.Planned) error {
	run, err := l.admit(p)
	if err != nil {
		return err
	}
	progress := l.screen()
	defer progress.Close()
	progress.Notice(l.progress(p))
	options := l.flags.optionsOf(p.Cell.Target.Name)
	options.Show, options.Notice, options.Stop = seenBy(progress, l.flags.following), progress.Notice, l.interrupts.end
	stored, err := local.Run(l.interrupts.leave, run, options)
	if errors.Is(err, local.ErrLeft) {
		return &exitError{exitUnknown, err}
	}
	if err != nil {
		return fmt.Errorf("the cell %s: %w", p.Cell.Name, err)
	}
	run = l.flags.advice.Run(run)
	// The result shows the addresses that got the load, not those that a flag has replaced.
	l.suite.Spec.Targets[l.places(p.Cell).Target].Target = run.Spec.Target
	suite.Add(l.suite, p, run, time.Now())
	switch {
	case !l.flags.destinations.haveDocuments():
	case len(l.ended) < maxKeptRuns:
		l.ended = append(l.ended, report.NewRun(run, stored))
	default:
		l.more++
	}
	return nil
}

// progress says which run starts, and how long the rest will take.
func (l *localSuite) progress(p suite.Planned) string {
	return suite.Describe(l.suite, p) + screen.Remaining(suite.Estimate(l.suite, time.Now()), l.suite.Spec.Search != nil)
}

// finish sets the conditions, writes the result and returns the exit status.
func (l *localSuite) finish(stopped bool) error {
	suite.SetFinished(l.suite, stopped, time.Now())
	return l.showEndedSuite(l.suite, l.reported, l.flags.following)
}

// reported has the suite with the runs that have ended.
func (l *localSuite) reported() *report.Document {
	d := report.OfSuite(l.suite, l.ended)
	d.Local, d.Notes = true, keptNotes(len(l.ended)+l.more)
	return d
}
