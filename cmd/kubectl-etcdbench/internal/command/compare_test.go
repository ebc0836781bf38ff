package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/compare"
)

// measured is a finished closed loop with this throughput, which began at a minute of the day.
func measured(minute int, perSecond int) func(*v1alpha1.EtcdBenchmarkStatus) {
	return func(s *v1alpha1.EtcdBenchmarkStatus) {
		stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(s)
		start := time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)
		s.Summary = &v1alpha1.Summary{
			Transport: spec.TransportClient, MeasuredRequests: 2000, ThroughputPerSecond: spec.Decimal(fmt.Sprint(perSecond)),
			WindowStart: &metav1.MicroTime{Time: start}, WindowEnd: &metav1.MicroTime{Time: start.Add(time.Minute)},
			Fingerprint: &v1alpha1.Fingerprint{ID: "id", Client: "a"},
		}
	}
}

// resultFile writes a result as run -o json writes it.
func resultFile(t *testing.T, name string, status func(*v1alpha1.EtcdBenchmarkStatus)) string {
	t.Helper()
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Name: name}}
	run.Spec.Workload.Type = spec.WorkloadPut
	status(&run.Status)
	path := filepath.Join(t.TempDir(), name+".json")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := writeJSON(file, run, []byte(`{"version": 2}`)); err != nil {
		t.Fatal(err)
	}
	return path
}

func side(t *testing.T, name string, offset int, perSecond ...int) string {
	t.Helper()
	var files []string
	for i, n := range perSecond {
		files = append(files, resultFile(t, fmt.Sprint(name, i), measured(2*i+offset, n)))
	}
	return strings.Join(files, ",")
}

func TestCompareFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		candidate []int
		status    int
		want      v1alpha1.ComparisonVerdict
	}{
		"worse":     {[]int{4000, 4010, 3990}, exitMissed, v1alpha1.Regressed},
		"the same":  {[]int{5000, 5010, 4990}, exitDone, v1alpha1.NotRegressed},
		"undecided": {[]int{5000, 4000, 6000}, exitUnknown, v1alpha1.NotCompared},
	} {
		t.Run(name, func(t *testing.T) {
			baseline, candidate := side(t, "old", 0, 5000, 5010, 4990), side(t, "new", 1, tc.candidate...)
			c := call("", "compare", baseline, candidate, "-o", "json")
			c.wantStatus(t, tc.status)
			var got compare.Result
			if err := json.Unmarshal([]byte(c.out.String()), &got); err != nil || got.Verdict != tc.want || len(got.Comparisons) != 1 || got.Rounds != 3 {
				t.Errorf("got %s (%v), wanted %s from 3 rounds", c.out, err, tc.want)
			}
			page := filepath.Join(t.TempDir(), "page.md")
			c = call("", "compare", baseline, candidate, "-o", "md="+page)
			c.wantStatus(t, tc.status)
			if !strings.HasPrefix(c.out.String(), string(tc.want)+".") || !strings.Contains(c.out.String(), "old0.json,") {
				t.Errorf("got\n%s", c.out)
			}
			// Markdown for a pull request: the verdict, then a table that GitHub draws.
			fileWith(t, page, "## "+map[v1alpha1.ComparisonVerdict]string{
				v1alpha1.Regressed: "❌ Regressed", v1alpha1.NotRegressed: "✅ NotRegressed", v1alpha1.NotCompared: "❔ Unknown",
			}[tc.want], "- **baseline**: ", "| METRIC | ROUNDS | BASELINE |", "|:---|---:|", "\n| Throughput | 3 | 4,999/s |")
		})
	}
}

func TestCompareObjectsOfACluster(t *testing.T) {
	ns := namespace(t)
	for i := range 3 {
		for j, name := range []string{"old", "new"} {
			manifest := strings.Replace(puts, "{name: puts}", fmt.Sprintf("{name: %s-%d}", name, i), 1)
			c := call(manifest, "run", "-f", "-", "-n", ns)
			operate(t, client.ObjectKey{Namespace: ns, Name: fmt.Sprintf("%s-%d", name, i)}, measured(2*i+j, 5000))
			c.wantStatus(t, exitDone)
		}
	}
	c := call("", "compare", "old-0,old-1,old-2", "new-0,new-1,new-2", "-n", ns)
	c.wantStatus(t, exitDone)
	c = call("", "compare", "old-0,absent", "new-0,new-1", "-n", ns)
	c.wantStatus(t, exitFailed)
	if !strings.Contains(c.err.String(), "absent") {
		t.Errorf("got %s, wanted the name that was not found", c.err)
	}
}

func TestCompareRefuses(t *testing.T) {
	one := resultFile(t, "one", measured(0, 5000))
	manifest := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(manifest, []byte(`{"kind": "EtcdBenchmark", "metadata": {"name": "puts"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"kind": "List", "items": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"one side":              {[]string{one}, "found 1 word:"},
		"no such file":          {[]string{"./absent.json", one}, "absent.json"},
		"a manifest":            {[]string{manifest, one}, "not a manifest"},
		"an empty list":         {[]string{other, one}, "the list is empty"},
		"an empty name":         {[]string{one + ",", one}, "separated by commas"},
		"sides of two lengths":  {[]string{one + "," + one, one}, "found 1 and 2"},
		"a run twice":           {[]string{one, one}, "one.json twice"},
		"an unknown operation":  {[]string{one, one, "--metric", "Latency:put:P99"}, `no operation "put"`},
		"a metric twice":        {[]string{one, one, "--metric", "Throughput", "--metric", "Throughput=3"}, "Throughput twice"},
		"an unknown metric":     {[]string{one, one, "--metric", "Speed"}, `found "Speed"`},
		"an unknown statistic":  {[]string{one, one, "--metric", "Latency:Put:P42"}, "P50"},
		"an impossible percent": {[]string{one, one, "--metric", "Throughput=100"}, "from 1 to 99"},
		"an unknown form":       {[]string{one, one, "-o", "xml"}, "table, json or md"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call("", append([]string{"compare"}, tc.args...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("got %q, wanted %q", c.err, tc.want)
			}
		})
	}
}
