package guard

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/schedule"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// Each suite makes the same runs, and the same table of the same results.
func TestSuites(t *testing.T) {
	t.Parallel()
	for _, s := range readSamples(t, "suite_") {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			compare(t, "suite/"+s.Name+".txt", describeSuite(t, string(s.Manifest)))
		})
	}
}

// A schedule starts at the same times, and its sessions are the same suites.
func TestSchedules(t *testing.T) {
	t.Parallel()
	for _, s := range readSamples(t, "schedule_") {
		var sch v1alpha1.EtcdBenchmarkSchedule
		if err := yaml.UnmarshalStrict(s.Manifest, &sch); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		times := must[schedule.Times](t)(schedule.Parse(sch.Spec.Schedule, sch.Spec.TimeZone))
		for i, next := 0, times.Next(at); i < 5; i, next = i+1, times.Next(next) {
			fmt.Fprintln(&out, "starts", next.UTC())
		}
		child := v1alpha1.EtcdBenchmarkSuite{Spec: sch.Spec.SuiteTemplate.Spec}
		child.Name, child.Kind, child.APIVersion = sch.Name, "EtcdBenchmarkSuite", v1alpha1.GroupVersion.String()
		manifest := must[[]byte](t)(yaml.Marshal(child))
		compare(t, "suite/"+s.Name+".txt", out.String()+describeSuite(t, string(manifest)))
	}
}

func describeSuite(t *testing.T, manifest string) string {
	t.Helper()
	d := &document{}
	admitted, complaint, ok := call(manifest, "run", "-f", "-", "--dry-run=client")
	if !ok {
		t.Fatal(complaint)
	}
	s := &v1alpha1.EtcdBenchmarkSuite{}
	if err := yaml.UnmarshalStrict([]byte(admitted), s); err != nil {
		t.Fatal(err)
	}
	s.UID, s.Generation, s.CreationTimestamp.Time = uid, 1, at
	d.add("with defaults", admitted)
	listed, complaint, _ := call(manifest, "plan", "-f", "-")
	d.add("listed", listed+complaint)
	suite.Start(s, 35, at)
	d.add("runs", describeChildren(s))
	for _, p := range suite.Examples(s) {
		d.add("run "+p.Name, string(must[[]byte](t)(yaml.Marshal(p.Run(s)))))
	}
	d.add("played", play(t, s))
	if suite.NeedsBaseline(s) == "" {
		suite.SetFinished(s, false, at.Add(time.Hour))
	}
	d.add("table", written(t, func(w io.Writer) error { return render.WriteSuite(w, s) }))
	d.addJSON(t, "status without results", withoutResults(s))
	return d.String()
}

// withoutResults leaves out what the list of played runs has.
func withoutResults(s *v1alpha1.EtcdBenchmarkSuite) v1alpha1.EtcdBenchmarkSuiteStatus {
	status := s.DeepCopy().Status
	status.Results = nil
	return status
}

func describeChildren(s *v1alpha1.EtcdBenchmarkSuite) string {
	var out strings.Builder
	for _, p := range suite.Plan(s) {
		load := p.Run(s).Spec.Load
		fmt.Fprintf(&out, "%s: cell %s, round %d, seed %d\n", p.Name, p.Cell.Name, p.Round, load.Seed)
	}
	return out.String()
}

// play gives each run of a suite a result, and lists the results.
func play(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite) string {
	t.Helper()
	var out strings.Builder
	now := at
	for p, more := suite.Then(s, false); more; p, more = suite.Then(s, false) {
		now = now.Add(time.Minute)
		suite.Created(s, p, now)
		suite.Track(s, playRun(t, s, p), now)
		r := s.Status.Results[len(s.Status.Results)-1]
		rate := ""
		if load := p.Run(s).Spec.Load; load.Rate != nil {
			rate = fmt.Sprintf(" at %d/s for %v", load.Rate.PerSecond, load.Duration())
		}
		fmt.Fprintf(&out, "%s%s: %s\n", p.Name, rate, describeResult(t, r))
	}
	return out.String()
}

// describeResult is one line.
func describeResult(t *testing.T, r v1alpha1.SuiteResult) string {
	t.Helper()
	data := string(must[[]byte](t)(yaml.Marshal(r)))
	return strings.Join(slices.DeleteFunc(strings.Fields(data), func(word string) bool { return word == "-" }), " ")
}

// most is the rate per second above which the latency of a played run grows without limit.
const most = 9000

// playRun answers at most so many requests per second, and each of them more slowly than fewer.
func playRun(t *testing.T, s *v1alpha1.EtcdBenchmarkSuite, p suite.Planned) *v1alpha1.EtcdBenchmark {
	t.Helper()
	b, _ := created(t, string(must[[]byte](t)(yaml.Marshal(p.Run(s)))))
	planned := must[plan.Plan](t)(benchmark.Plan(b, endpointsOf(b)))
	answered, busy := 5000+float64(seedOf(p.Cell.Name)%1000)+float64(p.Round%3), 0.5
	if p.Step.Role != "" {
		asked := float64(p.Step.PerSecond)
		answered, busy = min(asked, most), min(asked/most, 0.99)
		if asked == 0 {
			answered, busy = most, 0.9
		}
	}
	pods := measuring{requests: 1100, slower: 0.1 / (1 - busy)}.pods(t, planned)
	finish(t, b, planned, pods)
	b.Status.Summary.ThroughputPerSecond = spec.DecimalOf(answered)
	b.Status.Summary.Validity.Verdict = v1alpha1.ValidityValid
	return b
}
