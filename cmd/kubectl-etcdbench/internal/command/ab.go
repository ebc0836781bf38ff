package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const abExample = `  # Is this branch's etcd slower than main's? comment.md is for the pull request
  kubectl etcdbench ab ./etcd-main ./etcd-branch --data-dir /var/tmp -o table -o md=comment.md

  # Three members, and changes of 3 %
  kubectl etcdbench ab ./etcd-base ./etcd-new --members 3 --tolerance 3 --rounds 10

  # The same of two images, in the cluster of the current context
  kubectl etcdbench ab example.org/etcd:v3.6.16 example.org/etcd:v3.7.3 --images`

const abHelp = `Says whether the second etcd is slower than the first. Each run starts fresh members of one of
them, on this machine, and deletes them with their data. Both take their turn in each round:
puts of 1 and of 1,000 clients, linearizable and serializable reads, eight reads per write
beside compactions, and puts that are watched. Regressed: the throughput of the second is lower
by more than the tolerance. With -f, the rows are those of a suite with two targets.

With the default flags it takes about half an hour. --print-manifest prints the suite.

Exit status, the first that applies: 3 it was stopped, 1 a row is slower by more than the
tolerance, 2 a run failed or nothing could start, 3 a row is not decided, 0 no row is slower.`

// abFlags are the flags of ab.
type abFlags struct {
	runFlags
	// isImages: the arguments are images, and the suite runs in a cluster.
	isImages         bool
	members, seconds int32
	rounds           int32
	tolerancePercent int32
}

func (t *tool) abCommand() *cobra.Command {
	f := &abFlags{}
	// A file of rw-heatmaps has one target.
	f.forms = slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.name == formHeatmaps.name })
	cmd := &cobra.Command{
		Use:     "ab BASE NEW",
		Short:   "Say whether one build of etcd is slower than another",
		Long:    abHelp,
		Example: abExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("wanted two programs, or with --images two images, found %q: %s --help shows the usage", args, cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			err := t.ab(f, args[0], args[1])
			return f.adviceOf().Error(err)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.isImages, "images", false, "the arguments are images: run the suite in the cluster of the current context")
	flags.Int32Var(&f.members, "members", 1, "how many members each run has, 1 to 9")
	flags.Int32Var(&f.rounds, "rounds", 7, "how often each row runs, 3 to 50")
	flags.Int32Var(&f.seconds, "seconds", 10, "how long each run measures, after a warm-up of a fifth of that")
	flags.Int32Var(&f.tolerancePercent, "tolerance", 5, "by how many `PERCENT` the throughput may be lower")
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "take the rows from the EtcdBenchmarkSuite in `FILE`, whose two targets are BASE and NEW")
	flags.StringVar(&f.options.DataDir, "data-dir", "", "keep the members' data in a new folder in this `FOLDER`; the folder for temporary files if not set")
	flags.BoolVar(&f.sweep.print, "print-manifest", false, "print the EtcdBenchmarkSuite instead of running it")
	f.addFlags(flags, "every 2s in a cluster, every 0.5s on this machine")
	t.kube.addTo(flags)
	f.clusterFlags = t.kube.names()
	return cmd
}

func (f *abFlags) check() error {
	f.local, f.mayBeEqual = !f.isImages, true
	switch {
	case f.members < 1 || f.members > 9:
		return fmt.Errorf("--members: wanted 1 to 9, found %d", f.members)
	case f.rounds < 3 || f.rounds > 50:
		return fmt.Errorf("--rounds: wanted 3 to 50, found %d: with fewer there is no verdict", f.rounds)
	case f.seconds < 2 || f.seconds > 3600:
		return fmt.Errorf("--seconds: wanted 2 to 3600, found %d", f.seconds)
	case f.tolerancePercent < 1 || f.tolerancePercent > 99:
		return fmt.Errorf("--tolerance: wanted 1 to 99, found %d", f.tolerancePercent)
	case len(f.files) > 1:
		return fmt.Errorf("found -f %d times, wanted it once", len(f.files))
	case len(f.files) == 1 && f.firstGiven(rowFlags) != "":
		return fmt.Errorf("--%s is a field of the suite that -f names: remove the flag, and set %s there", f.firstGiven(rowFlags), rowFields[f.firstGiven(rowFlags)])
	case f.isImages && f.given("data-dir"):
		return errors.New("--data-dir is for programs on this machine: remove it or --images")
	case f.local && f.firstGiven(f.clusterFlags) != "":
		return fmt.Errorf("--%s selects a cluster, and programs run on this machine: remove it, or add --images", f.firstGiven(f.clusterFlags))
	case f.local && f.given("timeout"):
		return errors.New("--timeout is how long the command follows a suite in a cluster, and programs run on this machine: remove it, or add --images")
	case f.local:
		if f.given("members") {
			f.options.Members = int(f.members)
		}
		if err := f.checkLocal(); err != nil {
			return err
		}
	}
	return f.following.check()
}

// rowFlags are what the suite of -f has, and rowFields where it has them.
var (
	rowFlags  = []string{"members", "rounds", "seconds", "tolerance"}
	rowFields = map[string]string{
		"members": "spec.targets[].target.ephemeral.replicas", "rounds": "spec.rounds", "seconds": "spec.loads[].load.durationSeconds",
		"tolerance": "spec.compare.metrics[].tolerancePercent",
	}
)

func (t *tool) ab(f *abFlags, base, candidate string) error {
	if err := f.check(); err != nil {
		return err
	}
	m, err := t.abManifest(f, base, candidate)
	if err != nil {
		return err
	}
	s, err := admitted(admission.Suites, m.Copy())
	if err != nil {
		return err
	}
	if len(s.Spec.Targets) != 2 || s.Spec.Compare == nil || s.Spec.Compare.Baseline.Entry == "" {
		return m.Refuse("spec.targets", fmt.Sprintf("wanted two targets that spec.compare.baseline.entry compares, found %d", len(s.Spec.Targets)))
	}
	if axis := s.Spec.Compare.Axis; axis != v1alpha1.AxisTargets {
		return m.Refuse("spec.compare.axis", fmt.Sprintf("wanted Targets, because ab compares two builds, which are the targets; found %s", axis))
	}
	if f.isImages {
		if err := setImages(m, s, base, candidate); err != nil {
			return err
		}
	}
	if f.sweep.print {
		return printAdmitted(t, admission.Suites, m)
	}
	if f.local {
		if err := f.setBuilds(t, m, s, base, candidate); err != nil {
			return err
		}
	}
	if dir, is := f.options.InMemory(); f.local && is {
		fmt.Fprintf(t.Err, "Warning: %s lies in memory, so a build that writes more slowly to a disk looks as fast as the other. Add --data-dir FOLDER with a folder on a disk.\n", dir)
	}
	fmt.Fprintln(t.Err, estimateOf(s))
	return t.begin(&f.runFlags, m)
}

// setImages gives the members of each target of a suite one of the images, those of the baseline the first one.
func setImages(m *manifest.Manifest, s *v1alpha1.EtcdBenchmarkSuite, base, candidate string) error {
	targets, _, err := unstructured.NestedSlice(m.Object.Object, "spec", "targets")
	if err != nil {
		return m.Refuse("spec.targets", err.Error())
	}
	for i, target := range s.Spec.Targets {
		if target.Target.Ephemeral == nil {
			return m.Refuse(fmt.Sprintf("spec.targets[%d].target", i), "wanted ephemeral members, which run one of the images")
		}
		image := candidate
		if target.Name == s.Spec.Compare.Baseline.Entry {
			image = base
		}
		if err := unstructured.SetNestedField(targets[i].(map[string]any), image, "target", "ephemeral", "image"); err != nil {
			return m.Refuse(fmt.Sprintf("spec.targets[%d].target.ephemeral", i), err.Error())
		}
	}
	return unstructured.SetNestedSlice(m.Object.Object, targets, "spec", "targets")
}

// setBuilds makes each target of a suite one of the programs, the baseline the first one. The result names them.
func (f *abFlags) setBuilds(t *tool, m *manifest.Manifest, s *v1alpha1.EtcdBenchmarkSuite, base, candidate string) error {
	f.programs = map[v1alpha1.EntryName]string{}
	annotations := maps.Clone(m.Object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	for _, target := range s.Spec.Targets {
		file, role := candidate, "new"
		if target.Name == s.Spec.Compare.Baseline.Entry {
			file, role = base, "base"
		}
		version, err := versionOf(t.interrupts.leave, file)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Err, "%-5s %s: %s\n", role, file, version)
		f.programs[target.Name], annotations[v1alpha1.AnnotationProgram+string(target.Name)] = file, file+": "+version
	}
	m.Object.SetAnnotations(annotations)
	if same := (firstNames{}); same.of(base) == same.of(candidate) {
		fmt.Fprintln(t.Err, "Both are the same file: every difference is chance.")
	}
	return nil
}

// versionLimit bounds how long a program may take to print its version.
const versionLimit = 10 * time.Second

// versionOf asks an etcd for its version, for example "etcd 3.7.3, Git SHA 1a2b3c4, go1.26.0".
func versionOf(ctx context.Context, file string) (string, error) {
	if !strings.ContainsRune(file, filepath.Separator) {
		if _, err := exec.LookPath(file); err != nil {
			return "", fmt.Errorf("wanted the path of an etcd, found %q, which is no program in PATH: write ./%[1]s for one in this folder, or add --images", file)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, file, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: wanted the version of an etcd, found an error: %w", file, err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	if fields["etcd Version"] == "" {
		return "", fmt.Errorf("%s --version: wanted a line with \"etcd Version\", found %q: is it an etcd?", file, text.Shorten(strings.TrimSpace(string(out)), 100))
	}
	return fmt.Sprintf("etcd %s, Git SHA %s, %s", fields["etcd Version"], fields["Git SHA"], fields["Go Version"]), nil
}

// usualSpreads are standard deviations of the ratio of two equal runs: on a quiet machine, and on a shared one.
var usualSpreads = []float64{0.02, 0.05, 0.10}

// estimateOf says how long a suite takes, and which change it can find.
func estimateOf(s *v1alpha1.EtcdBenchmarkSuite) string {
	cells, rounds := len(suite.Cells(s)), int(max(s.Spec.Rounds, 1))
	out := fmt.Sprintf("%s of 2 builds × %s = %s", text.Plural(cells/2, "row"), text.Plural(rounds, "round"), text.Plural(cells*rounds, "run"))
	if length := suite.Estimate(s, time.Now()); length > 0 {
		out += ": about " + length.Round(time.Second).String()
	}
	m, comparisons := s.Spec.Compare.Metrics[0], cells/2*len(s.Spec.Compare.Metrics)
	found := ""
	for _, spread := range usualSpreads {
		if share, known := compare.SmallestRegression(m, rounds, comparisons, spread); known {
			found += fmt.Sprintf("\n  %3.0f %% if equal builds differ by %2.0f %% from round to round", 100*share, 100*spread)
		}
	}
	if out += "."; found != "" {
		out += fmt.Sprintf("\nThe smallest loss that it finds in %s cases:", compare.HowOften(int32(rounds))) + found
	}
	return out
}

// abManifest is the suite of -f with the builds as its targets, or the usual one.
func (t *tool) abManifest(f *abFlags, base, candidate string) (*manifest.Manifest, error) {
	if len(f.files) == 1 {
		m, err := t.readManifest(f.files[0])
		if err == nil && !m.IsSuite() {
			err = m.Refuse("kind", "wanted EtcdBenchmarkSuite with two targets, found EtcdBenchmark")
		}
		return m, err
	}
	content := fmt.Sprintf(abSuite, f.members, base, candidate, f.seconds, max(f.seconds/5, 1), f.rounds, f.tolerancePercent)
	return manifest.Read("ab", strings.NewReader(content))
}

// abSuite has the values of members, base, candidate, seconds, warm-up, rounds and tolerance. Each row of it moves another part
// of etcd: the write path alone, the same under batching, reads with and without a quorum, the backend's buffer beside
// compactions, and watchers.
const abSuite = `apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {name: ab}
spec:
  template:
    guard: {allowStoreWide: true}
  targets:
  - name: base
    target: {ephemeral: {replicas: %[1]d, image: %[2]q}}
  - name: new
    target: {ephemeral: {replicas: %[1]d, image: %[3]q}}
  workloads:
  - name: put
    workload: {type: Put, put: {overwrite: true, keys: {count: 10000}, values: {sizeBytes: 256}}}
  - name: range-l
    workload: {type: Range, range: {consistency: Linearizable, keys: {count: 10000}}}
  - name: range-s
    workload: {type: Range, range: {consistency: Serializable, keys: {count: 10000}}}
  - name: mixed
    workload: {type: Mixed, mixed: {readPercent: 89, keys: {count: 10000}}}
    disturbances: [{type: Compact, everySeconds: %[5]d}]
  - name: watch
    workload: {type: Watch, watch: {keys: {count: 1000}}}
  loads:
  - name: c1
    load: {connections: 1, clients: 1, durationSeconds: %[4]d, warmupSeconds: %[5]d}
  - name: c1000
    load: {connections: 100, clients: 1000, durationSeconds: %[4]d, warmupSeconds: %[5]d}
  exclude:
  - {workload: range-l, load: c1}
  - {workload: range-s, load: c1}
  - {workload: mixed, load: c1}
  - {workload: watch, load: c1}
  rounds: %[6]d
  keepReports: All
  compare:
    axis: Targets
    baseline: {entry: base}
    metrics: [{type: Throughput, tolerancePercent: %[7]d}]
`
