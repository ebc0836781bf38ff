package benchmark_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/config/crd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire/hostile"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// FuzzStatus: for all readable reports of two pods, the API server accepts the status, no number in it is negative, no
// text controls a terminal, and the report can be written.
func FuzzStatus(f *testing.F) {
	check := newStatusChecker(f)
	f.Add([]byte{}, []byte{})
	for change := range hostile.MetricChanges {
		for _, number := range []uint64{1, 1 << 47, 0x7fe0000000000000} {
			f.Add(hostile.Number(change, uint16(7*change), 0, number), hostile.Number(change, uint16(change), 0, number))
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		snaps := []*results.Snapshot{changedReport(0, first), changedReport(1, second)}
		b := judged(snaps)
		check.requireAccepted(t, b)
		data, err := benchmark.Report(b, results.Summarize(snaps))
		if err != nil {
			t.Fatal(err)
		}
		detail, err := benchmark.ReadReport(data)
		if err != nil {
			t.Fatal(err)
		}
		requirePrintable(t, b, detail.Course)
	})
}

// FuzzReadReport: users can write the ConfigMap of a report. Printing it must end.
func FuzzReadReport(f *testing.F) {
	b := judged([]*results.Snapshot{fullReport(0), fullReport(1)})
	f.Add([]byte(`{"timeline":{"intervalSeconds":0.1,"points":[{"succeeded":1},{"succeeded":2,"maxLatencyNanoseconds":5000}]}}`))
	f.Add([]byte(`{"timeline":{"intervalSeconds":1e-300,"points":[{"succeeded":1},{"succeeded":2}]}}`))
	f.Add([]byte(`{"timeline":{"intervalSeconds":1e300,"points":[{},{},{}]}}`))
	snaps := []*results.Snapshot{fullReport(0), fullReport(1)}
	whole, err := benchmark.Report(b, results.Summarize(snaps))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, data []byte) {
		if detail, err := benchmark.ReadReport(data); err == nil {
			requirePrintable(t, b, detail.Course)
		}
	})
}

// fullReport is the report of a pod that has every kind of figure.
func fullReport(index int) *results.Snapshot {
	s := runtest.Measured(index, 50, runtest.Throttled(0.25), runtest.Failing(3, "Unavailable", time.Millisecond), runtest.CutOff(2, time.Second), runtest.Events(1),
		runtest.Told(runtest.Flushed(1000), runtest.Flushed(40), &results.MemberWindow{Unknown: "its metrics could not be read"}))
	s.Operations[spec.OperationPut].Examples.Add("Unavailable", "etcdserver: no leader")
	s.Target.WriteEstimateBytes = 1 << 20
	s.Target.Changes = []results.Change{{Aspect: results.AspectLeader, Detail: "from a to b", At: runtest.WindowStart}}
	s.Target.Unlisted, s.Target.Unobserved = "no answer", map[results.Aspect]string{results.AspectLeader: "no answer"}
	s.Fired = &results.Fired{Rule: spec.GuardWALFsync, Subject: "etcd-a", Got: 2, Limit: 1, At: runtest.WindowStart}
	s.Unwatched = map[spec.GuardRule]string{spec.GuardErrorRatio: "too few requests"}
	s.Failure = &results.Failure{Reason: results.FailurePodFailed, Message: "killed"}
	s.Clock, s.Started, s.Omitted = runtest.WindowStart, 60, []string{"lateness"}
	d := &results.Disturbance{}
	d.Record(results.Mark{After: time.Second, Took: time.Millisecond, Member: "a"}, "too slow")
	s.Disturbances = map[spec.DisturbanceType]*results.Disturbance{spec.DisturbanceDefragment: d}
	for i := range 9 {
		s.Timeline.Record(time.Duration(i)*100*time.Millisecond, time.Millisecond, i%3 > 0)
		s.Heatmap.Record(time.Duration(i)*100*time.Millisecond, time.Millisecond<<i)
	}
	return s
}

// changedReport is the report of a pod after a program changed its metrics; nil if it cannot be read.
func changedReport(index int, program []byte) *results.Snapshot {
	s, err := wire.Decode(hostile.Change(wire.Families(fullReport(index)), program))
	if err != nil {
		return nil
	}
	return s
}

// judged is a finished run with objectives of all kinds and these results.
func judged(snaps []*results.Snapshot) *v1alpha1.EtcdBenchmark {
	b := runtest.Puts(runtest.Objectives(
		runtest.MaxLatency(spec.StatisticP99, 1000), runtest.MinThroughput(10), runtest.MaxErrors(5),
		named("fsync", runtest.MaxFsync(v1alpha1.MemberStatisticP99, 10)), named("mean", runtest.MaxFsync(v1alpha1.MemberStatisticMean, 10)),
		named("elections", runtest.MaxCount(spec.ObjectiveLeaderChanges, 0)), named("growth", runtest.MaxGrowth(1)),
	), func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Disturbances = []spec.Disturbance{{Type: spec.DisturbanceDefragment, EverySeconds: 1}}
	})
	summary, merged := results.Summarize(snaps), results.Merge(snaps)
	s := &b.Status
	s.Target = benchmark.TargetStatus(b, b.Spec.Target.Endpoints, merged.Target)
	s.Guard, s.Progress, s.Summary = benchmark.Guard(b, snaps), benchmark.Progress(b, summary, snaps), benchmark.Summary(b, summary)
	s.RequestCounts = benchmark.RequestCounts(merged.Requests)
	for _, snap := range snaps {
		if snap != nil && !hasPod(s.Pods, int32(snap.Index)) {
			s.Pods = append(s.Pods, benchmark.Pod(snap))
		}
	}
	var passed *metav1.Condition
	s.Objectives, passed = verdict.Judge(b, &summary, v1alpha1.ReasonCompleted)
	message := "done"
	if s.Guard != nil {
		message = benchmark.GuardMessage(s.Guard)
	}
	s.Conditions = []metav1.Condition{*passed, {Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonGuardStopped, Message: message}}
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime = metav1.NewTime(runtest.WindowStart)
	}
	s.Display = render.Display(b)
	return b
}

func named(name string, o v1alpha1.Objective) v1alpha1.Objective {
	o.Name = name
	return o
}

func hasPod(pods []v1alpha1.PodStatus, index int32) bool {
	for _, p := range pods {
		if p.Index == index {
			return true
		}
	}
	return false
}

// statusChecker has an API server's rules for a status.
type statusChecker struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

func newStatusChecker(t testing.TB) statusChecker {
	t.Helper()
	definition, props := apiextensionsv1.CustomResourceDefinition{}, apiextensions.JSONSchemaProps{}
	err := yaml.Unmarshal(crd.EtcdBenchmarks, &definition)
	if err == nil {
		err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil)
	}
	status := props.Properties["status"]
	var c statusChecker
	if err == nil {
		c.structural, err = schema.NewStructural(&status)
	}
	if err == nil {
		c.validator, _, err = validation.NewSchemaValidator(&status)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c statusChecker) requireAccepted(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		t.Fatal(err)
	}
	status := object["status"].(map[string]any)
	if errs := validation.ValidateCustomResource(nil, status, c.validator); len(errs) > 0 {
		t.Fatalf("the API server would refuse the status: %v", errs)
	}
	if errs := listtype.ValidateListSetsAndMaps(nil, c.structural, status); len(errs) > 0 {
		t.Fatalf("the API server would refuse the status: %v", errs)
	}
	requirePlain(t, "status", status)
}

// requirePlain wants numbers without overflow and printable texts.
func requirePlain(t *testing.T, path string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			requirePlain(t, path+"."+key, value)
		}
	case []any:
		for i, value := range v {
			requirePlain(t, fmt.Sprintf("%s[%d]", path, i), value)
		}
	case int64:
		if v < 0 && !strings.HasSuffix(path, "databaseGrowthBytes") {
			t.Errorf("%s is %d", path, v)
		}
	case string:
		isDecimal := strings.HasSuffix(path, "PerSecond") || strings.HasSuffix(path, "PerCommit")
		if n, err := strconv.ParseFloat(v, 64); isDecimal && (err != nil || !(n >= 0)) || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%s is %q", path, v)
		}
	}
}

// requirePrintable writes the table. It must not control a terminal, and its size is bounded.
func requirePrintable(t *testing.T, b *v1alpha1.EtcdBenchmark, course *results.Course) {
	t.Helper()
	var out strings.Builder
	if err := render.WriteTable(&out, b, course); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) || out.Len() > 1<<20 {
		t.Errorf("the table of %d bytes has control characters or is too long: %q", out.Len(), out.String())
	}
}
