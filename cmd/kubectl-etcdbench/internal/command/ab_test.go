package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
)

// twoBuilds is a suite with one short row. Its baseline is the second target.
const twoBuilds = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {name: short}
spec:
  targets:
  - {name: branch, target: {ephemeral: {replicas: 1, image: a}}}
  - {name: main, target: {ephemeral: {replicas: 1, image: b}}}
  workloads: [{name: put, workload: {type: Put, put: {keys: {count: 1000}}}}]
  loads: [{name: few, load: {requests: 50}}]
  rounds: 3
  compare: {axis: Targets, baseline: {entry: main}, metrics: [{type: Throughput, tolerancePercent: 99}]}
`

func etcdProgram(t *testing.T) string {
	t.Helper()
	etcd, err := filepath.Abs(filepath.Join(apiservertest.Tools(filepath.Join("..", "..", "..", "..")), "etcd"))
	must(t, err)
	return etcd
}

// The first program is the baseline, whatever the order of the targets. Each run has new members of its program.
func TestTwoBuildsTakeTurns(t *testing.T) {
	t.Parallel()
	program, mark := etcdThatMarks(t)
	out := t.TempDir()
	perfdash := filepath.Join(out, "perfdash.json")
	c := call(twoBuilds, "ab", etcdProgram(t), program, "-f", "-", "-o", "json", "-o", "perfdash="+perfdash, "-o", "md="+filepath.Join(out, "comment.md"))
	c.end(t)
	var s v1alpha1.EtcdBenchmarkSuite
	must(t, json.Unmarshal([]byte(c.out.String()), &s))
	if len(s.Status.Comparisons) != 1 || s.Status.Comparisons[0].BaselineCell != "main" || len(s.Status.Results) < 6 {
		t.Fatalf("compared %+v in %d runs", s.Status.Comparisons, len(s.Status.Results))
	}
	comment, err := os.ReadFile(filepath.Join(out, "comment.md"))
	must(t, err)
	for target, file := range map[string]string{"main": etcdProgram(t), "branch": program} {
		if build := s.Annotations[v1alpha1.AnnotationProgram+target]; !strings.HasPrefix(build, file+": etcd 3.") || !strings.Contains(build, ", Git SHA ") || !strings.Contains(build, ", go1.") {
			t.Errorf("%s: the result names the build %q", target, build)
		}
		if at := strings.Index(string(comment), "- **"+target+"**: "); at < 0 || at > strings.Index(string(comment), "| CELL |") {
			t.Errorf("wanted %s before the verdicts, found %s", target, comment)
		}
	}
	runs := 0
	for _, r := range s.Status.Results {
		if r.Cell == "branch" {
			runs++
		}
	}
	// The program also started once to print its version.
	if started, err := os.ReadFile(mark); err != nil || len(started) != runs+1 {
		t.Errorf("the second program started %d times (%v), wanted %d", len(started), err, runs+1)
	}
	if want := "1 row of 2 builds × 3 rounds = 6 runs."; !strings.Contains(c.err.String(), want) || strings.Count(c.err.String(), ": etcd 3.") != 2 {
		t.Errorf("wanted %q and two versions, found %s", want, c.err.String())
	}
	var graphs struct {
		DataItems []struct{ Labels map[string]string }
	}
	content, err := os.ReadFile(perfdash)
	must(t, err)
	must(t, json.Unmarshal(content, &graphs))
	found := map[string]int{}
	for _, item := range graphs.DataItems {
		found[item.Labels["Cell"]+" "+item.Labels["Metric"]]++
	}
	for _, cell := range []string{"main", "branch"} {
		if found[cell+" Throughput"] != 1 || found[cell+" Memory"] != 1 {
			t.Errorf("found the graphs %v", found)
		}
	}
}

// The printed suite can run, and has the values of the flags.
func TestThePrintedSuiteOfTwoBuilds(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"./a", "./b"}, {"example.org/etcd:1", "example.org/etcd:2", "--images"}} {
		c := call("", append([]string{"ab", "--print-manifest", "--members", "3", "--rounds", "4", "--seconds", "7", "--tolerance", "3"}, args...)...)
		c.wantStatus(t, exitDone)
		again := call(c.out.String(), "run", "-f", "-", "--dry-run=client", "-o", "json")
		again.wantStatus(t, exitDone)
		var s v1alpha1.EtcdBenchmarkSuite
		must(t, json.Unmarshal([]byte(again.out.String()), &s))
		e := s.Spec.Targets[1].Target.Ephemeral
		if e.Image != args[1] || e.Replicas != 3 || s.Spec.Rounds != 4 || *s.Spec.Loads[0].Load.DurationSeconds != 7 || s.Spec.Compare.Metrics[0].TolerancePercent != 3 {
			t.Errorf("found %s", c.out.String())
		}
	}
}

// With images, the targets of a suite of one's own run them: that of the baseline the first one.
func TestImagesOfASuite(t *testing.T) {
	t.Parallel()
	c := call(twoBuilds, "ab", "example.org/etcd:1", "example.org/etcd:2", "--images", "-f", "-", "--print-manifest")
	c.wantStatus(t, exitDone)
	again := call(c.out.String(), "run", "-f", "-", "--dry-run=client", "-o", "json")
	again.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	must(t, json.Unmarshal([]byte(again.out.String()), &s))
	for _, target := range s.Spec.Targets {
		if want := map[v1alpha1.EntryName]string{"main": "example.org/etcd:1", "branch": "example.org/etcd:2"}[target.Name]; target.Target.Ephemeral.Image != want {
			t.Errorf("%s: found the image %q, wanted %q", target.Name, target.Target.Ephemeral.Image, want)
		}
	}
}

func TestBuildsThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	etcd := etcdProgram(t)
	notEtcd := filepath.Join(t.TempDir(), "program")
	must(t, os.WriteFile(notEtcd, []byte("#!/bin/sh\necho hello\n"), 0o755))
	otherAxis := strings.NewReplacer("axis: Targets, baseline: {entry: main}", "axis: Loads, baseline: {entry: few}",
		"[{name: few,", "[{name: many, load: {requests: 60}}, {name: few,").Replace(twoBuilds)
	for name, tc := range map[string]struct{ stdin, args, want string }{
		"one program":         {"", etcd, "wanted two programs"},
		"no file":             {"", etcd + " ./missing", "./missing --version: wanted the version of an etcd"},
		"a name":              {"", etcd + " missing", "write ./missing for one in this folder"},
		"another program":     {"", etcd + " " + notEtcd, "is it an etcd?"},
		"a suite of one":      {strings.Replace(twoBuilds, "  - {name: branch, target: {ephemeral: {replicas: 1, image: a}}}\n", "", 1), etcd + " " + etcd + " -f -", "an axis with at least two entries"},
		"a run":               {puts, etcd + " " + etcd + " -f -", "wanted EtcdBenchmarkSuite"},
		"rows of two sources": {twoBuilds, etcd + " " + etcd + " -f - --rounds 3", "set spec.rounds there"},
		"images and a folder": {"", "a b --images --data-dir /tmp", "--data-dir is for programs"},
		"a cluster":           {"", etcd + " " + etcd + " --context a", "add --images"},
		"another axis":        {otherAxis, etcd + " " + etcd + " -f -", "spec.compare.axis: wanted Targets"},
		"images of no member": {strings.Replace(twoBuilds, "{ephemeral: {replicas: 1, image: a}}", `{endpoints: ["127.0.0.1:2379"]}`, 1), "a b --images -f -", "spec.targets[0].target: wanted ephemeral members"},
		"a file of one":       {"", etcd + " " + etcd + " -o rw-heatmaps=file", "perfdash or jsonl, found"},
		"members of two":      {twoBuilds, etcd + " " + etcd + " -f - --members 3", "set spec.targets[].target.ephemeral.replicas there"},
		"a timeout":           {"", etcd + " " + etcd + " --timeout 5m", "--timeout is how long the command follows a suite in a cluster"},
		"no tolerance":        {"", etcd + " " + etcd + " --tolerance 0", "--tolerance: wanted 1 to 99"},
		"too short":           {"", etcd + " " + etcd + " --seconds 1", "--seconds: wanted 2"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(tc.stdin, append([]string{"ab"}, strings.Fields(tc.args)...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("wanted %q, found %s", tc.want, c.err.String())
			}
		})
	}
}

// One file under two names says that every difference is chance, and runs.
func TestOneBuildTwice(t *testing.T) {
	t.Parallel()
	etcd := etcdProgram(t)
	link := filepath.Join(t.TempDir(), "etcd-new")
	must(t, os.Symlink(etcd, link))
	args := []string{"ab", etcd, link, "-f", "-"}
	memory, is := local.Options{DataDir: "/dev/shm"}.InMemory()
	if is {
		args = append(args, "--data-dir", memory)
	}
	c := call(strings.Replace(twoBuilds, "requests: 50", "durationSeconds: 1", 1), args...)
	c.end(t)
	if warned := strings.Index(c.err.String(), "lies in memory"); is && (warned < 0 || warned > strings.Index(c.err.String(), "Run 1 of 6")) {
		t.Errorf("wanted a warning before the first run, found %s", c.err)
	}
	// There is one estimate: it includes the start of the members.
	for _, want := range []string{"= 6 runs: about 24s.", "All runs end in about 24s.", "it finds in three of four cases:\n"} {
		if !strings.Contains(c.err.String(), want) {
			t.Errorf("wanted %q, found %s", want, c.err)
		}
	}
	if !strings.Contains(c.err.String(), "every difference is chance") || !strings.Contains(c.out.String(), "6 of 6 planned") {
		t.Errorf("found %s%s", c.err.String(), c.out.String())
	}
}

// Why the members cannot start is in the result, which has no tables without numbers.
func TestBuildsThatCannotStart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	broken, comment := filepath.Join(folder, "etcd"), filepath.Join(folder, "comment.md")
	must(t, os.WriteFile(broken, []byte("#!/bin/sh\nif [ \"$1\" = --version ]; then exec "+etcdProgram(t)+" --version; fi\necho no space left on device >&2\nexit 1\n"), 0o755))
	c := call(twoBuilds, "ab", etcdProgram(t), broken, "-f", "-", "-o", "table", "-o", "md="+comment)
	c.wantStatus(t, exitFailed)
	markdown, err := os.ReadFile(comment)
	must(t, err)
	for form, shown := range map[string]string{"table": c.out.String(), "Markdown": string(markdown)} {
		if !strings.Contains(shown, "A run could not start: ") || !strings.Contains(shown, "no space left") || strings.Contains(shown, "CELL") || strings.Contains(shown, "was stopped") {
			t.Errorf("%s: found %s", form, shown)
		}
	}
}
