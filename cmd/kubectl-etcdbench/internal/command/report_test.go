package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

func fileWith(t *testing.T, path string, wants ...string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s: wanted %q", filepath.Base(path), want)
		}
	}
}

// A saved result becomes every form; what is written to standard output has nothing else in it.
func TestReportOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	result := resultFile(t, "old", measured(0, 4321))
	c := call("", "report", result, "-o", "html=page.html", "-o", "junit=tests.xml", "-o", "json=document.json", "-o", "csv")
	c.wantStatus(t, exitDone)
	if out := c.out.String(); !strings.HasPrefix(out, "namespace,suite,cell") || !strings.Contains(out, ",old,") {
		t.Errorf("wanted CSV on standard output, found %s", out)
	}
	fileWith(t, "page.html", "<!DOCTYPE html>", "Completed")
	fileWith(t, "tests.xml", `<testsuite name="old"`)
	if !strings.Contains(c.err.String(), "Wrote page.html") {
		t.Errorf("wanted the names of the files, found %s", c.err)
	}
	again := call("", "report", "./document.json", "-o", "md")
	again.wantStatus(t, exitDone)
	if !strings.Contains(again.out.String(), "EtcdBenchmark old") {
		t.Errorf("found %s", again.out)
	}
	call("", "report", "./document.json").wantStatus(t, exitDone)
	fileWith(t, "document.html", "<!DOCTYPE html>")
	several := call("", "report", result, resultFile(t, "new", measured(1, 4000)), "-o", "md")
	several.wantStatus(t, exitDone)
	if !strings.Contains(several.out.String(), "What differs") {
		t.Errorf("two runs: found %s", several.out)
	}
	redacted := call("", "report", result, "-o", "md", "--redact")
	redacted.wantStatus(t, exitDone)
	if strings.Contains(redacted.out.String(), "old") {
		t.Errorf("redacted: found %s", redacted.out)
	}
}

func TestReportRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("pod.yaml", []byte("kind: Pod"), 0o644); err != nil {
		t.Fatal(err)
	}
	result := resultFile(t, "old", measured(0, 4321))
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":                {nil, "wanted a run"},
		"no such file":           {[]string{"./none.json"}, "none.json"},
		"another kind":           {[]string{"pod.yaml"}, `the kind "Pod"`},
		"an unknown form":        {[]string{result, "-o", "pdf"}, "html, md, csv, json, junit or rw-heatmaps"},
		"two on standard output": {[]string{result, "-o", "md", "-o", "csv"}, "at most one form on standard output"},
		"a file twice":           {[]string{result, "-o", "md=x", "-o", "csv=x"}, "found x twice"},
		"no such folder":         {[]string{result, "-o", "html=none/page.html"}, "none/page.html"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call("", append([]string{"report"}, tc.args...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("found %s, wanted %q in it", c.err, tc.want)
			}
		})
	}
}

// In a cluster, the details come from the runs and the ConfigMaps.
func TestReportFromACluster(t *testing.T) {
	t.Chdir(t.TempDir())
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	create := call(puts, "run", "-f", "-", "-n", key.Namespace)
	create.err.await(t, "Created")
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "puts-report"}, Data: map[string]string{benchmark.ReportFile: `{"version": 2,
		"operations": [{"operation": "Put", "histograms": {"latency": {"schema": 3, "count": 100, "sumSeconds": 1, "minNanoseconds": 1000000, "maxNanoseconds": 20000000, "buckets": [[-50, 50], [-40, 50]]}}}]}`}}
	if err := apiServer.client.Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
		measured(0, 4321)(s)
		s.ReportName = stored.Name
	})
	create.wantStatus(t, exitDone)
	c := call("", "report", "puts", "-n", key.Namespace)
	c.wantStatus(t, exitDone)
	fileWith(t, "puts.html", "EtcdBenchmark "+key.String(), "Put: latency by percentile")

	s := client.ObjectKey{Namespace: key.Namespace, Name: "small"}
	follow := call(judgedSuite, "run", "-f", "-", "-n", key.Namespace)
	follow.err.await(t, "Created the suite")
	operateSuite(t, s, starts)
	var run *v1alpha1.EtcdBenchmark
	operateSuite(t, s, func(s *v1alpha1.EtcdBenchmarkSuite) {
		p, _ := suite.Next(s)
		run = p.Run(s)
		endsRun(passes(metav1.ConditionFalse))(s)
	})
	run.Namespace = key.Namespace
	if err := apiServer.client.Create(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	operate(t, client.ObjectKeyFromObject(run), measured(0, 777))
	operateSuite(t, s, func(s *v1alpha1.EtcdBenchmarkSuite) { suite.SetFinished(s, true, time.Now()) })
	follow.wantStatus(t, exitUnknown)
	c = call("", "report", "suite/small", "-n", key.Namespace, "-o", "html=suite.html", "-o", "md")
	c.wantStatus(t, exitDone)
	fileWith(t, "suite.html", "EtcdBenchmarkSuite "+s.String(), "<summary>"+run.Name)
	if !strings.Contains(c.out.String(), "put/one") {
		t.Errorf("found %s", c.out)
	}
	for _, name := range []string{"none", "suite/none", "schedule/none"} {
		c := call("", "report", name, "-n", key.Namespace, "-o", "md")
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), "none") || !strings.Contains(c.err.String(), "not found") {
			t.Errorf("%s: found %s", name, c.err)
		}
	}
}

func TestPageName(t *testing.T) {
	for _, tc := range []struct {
		want   string
		redact bool
		args   []string
	}{
		{"etcd-3.6.html", false, []string{"suite/etcd-3.6"}},
		{"etcd-3.7.html", false, []string{"suite/etcd-3.7"}},
		{"etcd-3.6.html", false, []string{"etcd-3.6"}},
		{"writes.html", false, []string{"writes"}},
		{"result.html", false, []string{"results/result.json"}},
		{"result.v2.html", false, []string{"./result.v2.yaml"}},
		{"report.html", false, []string{"one", "two"}},
		{"report.html", true, []string{"writes"}},
	} {
		if got := pageName(tc.args, tc.redact); got != tc.want {
			t.Errorf("%q: found %s, wanted %s", tc.args, got, tc.want)
		}
	}
}
