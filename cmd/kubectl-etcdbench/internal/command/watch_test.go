package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func TestNamesOfWhatIsWatched(t *testing.T) {
	for argument, want := range map[string]watchedKind{
		"x": anyKind, "run/x": aRun, "eb/x": aRun, "etcdbenchmark/x": aRun, "etcdbenchmarks/x": aRun, "etcdbenchmark.etcdbench.dev/x": aRun,
		"suite/x": aSuite, "ebs/x": aSuite, "etcdbenchmarksuite/x": aSuite, "EtcdBenchmarkSuites/x": aSuite, "etcdbenchmarksuite.etcdbench.dev/x": aSuite,
	} {
		if kind, name, err := parseWatched(argument); kind != want || name != "x" || err != nil {
			t.Errorf("%s: got %d, %q and %v", argument, kind, name, err)
		}
	}
	for _, argument := range []string{"", "pod/x", "suite/", "suite/x/y", "/x"} {
		_, _, err := parseWatched(argument)
		if err == nil || !strings.Contains(err.Error(), "wanted NAME, run/NAME or suite/NAME, found \""+argument+"\"") {
			t.Errorf("%q: got %v", argument, err)
		}
	}
}

// A command that begins in the middle of a suite shows the runs that end from then on.
func TestWatchASuite(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	call(judgedSuite, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	operateSuite(t, key, starts)
	operateSuite(t, key, endsRun(passes(metav1.ConditionTrue)))
	c := call("", "watch", "suite/small", "-n", key.Namespace)
	c.err.await(t, "Run 2 of 4: put/two, round 1.")
	operateSuite(t, key, endsRun(passes(metav1.ConditionUnknown)))
	c.err.await(t, "put/two, round 1: Completed  12,345/s  Put p99 25.1ms  not judged")
	operateSuite(t, key, endsRun(nil))
	operateSuite(t, key, endsRun(nil))
	operateSuite(t, key, endsSuite(false))
	c.wantStatus(t, exitUnknown)
	if strings.Contains(c.err.String(), "put/one, round 1: Completed") {
		t.Errorf("wanted no line for a run that had ended before, got\n%s", c.err)
	}

	// A finished suite is printed at once. No run has the name, so the name alone is enough.
	for _, name := range []string{"ebs/small", "small"} {
		again := call("", "watch", name, "-n", key.Namespace, "-o", "yaml")
		again.wantStatus(t, exitUnknown)
		if !strings.Contains(again.out.String(), "kind: EtcdBenchmarkSuite") || !strings.Contains(again.err.String(), "error: NotJudged: ") {
			t.Errorf("%s: got\n%s\n%s", name, again.out, again.err)
		}
	}
}

// A name alone is that of a run, also if a suite has the same name.
func TestWatchPrefersARun(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	call(smallSuite, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	call(strings.Replace(puts, "name: puts", "name: small", 1), "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	operate(t, key, stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue))
	for _, name := range []string{"small", "run/small", "eb/small"} {
		c := call("", "watch", name, "-n", key.Namespace)
		c.wantStatus(t, exitDone)
		if !strings.HasPrefix(c.out.String(), key.String()+"\n  result  Completed") {
			t.Errorf("%s: wanted the result of the run, got\n%s", name, c.out)
		}
	}
}

func TestWatchLeavesTheSuiteAlone(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	call(smallSuite, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	c := call("", "watch", "suite/small", "-n", key.Namespace)
	c.err.await(t, "Pending")
	c.signals <- os.Interrupt
	c.wantStatus(t, exitUnknown)
	if s := awaitSuite(t, key, anySuite); s.Spec.Stop {
		t.Error("watch stopped the suite")
	}
}

func TestWatchRefuses(t *testing.T) {
	ns := namespace(t)
	call(smallSuite, "run", "-f", "-", "-n", ns, "--timeout", "1ms").wantStatus(t, exitUnknown)
	call(puts, "run", "-f", "-", "-n", ns, "--timeout", "1ms").wantStatus(t, exitUnknown)
	file := filepath.Join(t.TempDir(), "file.csv")
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":          {[]string{"nothing"}, "found no run and no suite " + ns + "/nothing: kubectl get etcdbenchmarks,etcdbenchmarksuites -n " + ns},
		"no suite":         {[]string{"suite/nothing"}, "the suite " + ns + "/nothing was not found: kubectl get etcdbenchmarksuite -n " + ns},
		"no run":           {[]string{"run/small"}, "the run " + ns + "/small was not found"},
		"a form for runs":  {[]string{"suite/small", "-o", "jsonl"}, "a suite has no form jsonl"},
		"the same, a name": {[]string{"small", "-o", "jsonl"}, "a suite has no form jsonl"},
		"no such picture":  {[]string{"suite/small", "-o", "rw-heatmaps=" + file}, "rw-heatmaps: wanted workloads of type Mixed"},
		"none of a run":    {[]string{"run/puts", "-o", "rw-heatmaps=" + file}, "rw-heatmaps: wanted a suite"},
		"another kind":     {[]string{"pod/small"}, `watch follows no "pod"`},
		"two names":        {[]string{"suite", "small"}, "wanted the name of one run or suite, found 2"},
	} {
		t.Run(name, func(t *testing.T) {
			// The run and the suite do not end: what is refused only at the end is not refused within the time.
			c := call("", append(append([]string{"watch", "--timeout", "5s"}, tc.args...), "-n", ns)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("wanted %q in\n%s", tc.want, c.err)
			}
		})
	}
}
