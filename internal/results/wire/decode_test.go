package wire

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// familyOf returns one family of many.
func familyOf(t *testing.T, all []*dto.MetricFamily, name string) *dto.MetricFamily {
	t.Helper()
	for _, mf := range all {
		if mf.GetName() == name {
			return mf
		}
	}
	t.Fatalf("there is no family %s", name)
	return nil
}

func TestDecodeRefuses(t *testing.T) {
	const latency, pod, member = "etcdbench_request_duration_seconds", "etcdbench_pod_info", "etcdbench_target_member_info"
	histogram := func(change func(*dto.Histogram)) func(*dto.MetricFamily) {
		return func(mf *dto.MetricFamily) { change(mf.Metric[0].Histogram) }
	}
	value := func(v float64) func(*dto.MetricFamily) {
		return func(mf *dto.MetricFamily) {
			mf.Metric[0].Gauge, mf.Metric[0].Counter = &dto.Gauge{Value: &v}, &dto.Counter{Value: &v}
		}
	}
	label := func(at int, v string) func(*dto.MetricFamily) {
		return func(mf *dto.MetricFamily) { mf.Metric[0].Label[at].Value = &v }
	}
	tests := map[string]struct {
		family string
		change func(*dto.MetricFamily)
	}{
		"a stage that is not a number":  {"etcdbench_stage", value(math.NaN())},
		"a negative count":              {"etcdbench_requests_total", value(-1)},
		"an infinite count":             {"etcdbench_requests_total", value(math.Inf(1))},
		"half a request":                {"etcdbench_requests_total", value(0.5)},
		"too many requests":             {"etcdbench_requests_total", value(1 << 60)},
		"a flag of 2":                   {"etcdbench_stopped", value(2)},
		"a time after the next century": {"etcdbench_window_start_timestamp_seconds", value(1e10)},
		"a duration of 300 years":       {"etcdbench_start_skew_seconds", value(1e10)},
		"an unknown phase":              {"etcdbench_requests_total", label(0, "lunch")},
		"an RPC of two words":           {"etcdbench_requests_total", label(1, "Put it")},
		"an unknown operation":          {latency, label(0, "Watch")},
		"two stages":                    {"etcdbench_stage", value(1)},
		"an unknown stage": {"etcdbench_stage", func(mf *dto.MetricFamily) {
			mf.Metric[len(results.Stages)-1].Label[0].Value = proto.String("Lunch")
		}},
		"a pod without a run":          {pod, label(1, "")},
		"a pod that is not a number":   {pod, label(0, "one")},
		"a negative pod":               {pod, label(0, "-1")},
		"a pod of a million":           {pod, label(0, "9999999")},
		"a line feed in a name":        {member, label(2, "etcd\n0")},
		"an escape sequence in a name": {member, label(2, "etcd\x1b[2J")},
		"a name that is not UTF-8":     {member, label(2, "\xff")},
		"a name that is too long":      {member, label(2, strings.Repeat("e", text.MaxBytes+1))},
		"a label missing":              {member, func(mf *dto.MetricFamily) { mf.Metric[0].Label = mf.Metric[0].Label[1:] }},
		"another label":                {member, func(mf *dto.MetricFamily) { mf.Metric[0].Label[1].Name = proto.String("house") }},
		"another type":                 {pod, func(mf *dto.MetricFamily) { mf.Type = dto.MetricType_COUNTER.Enum() }},
		"no value":                     {pod, func(mf *dto.MetricFamily) { mf.Metric[0].Gauge = nil }},
		"the same metric twice":        {"etcdbench_requests_total", func(mf *dto.MetricFamily) { mf.Metric = append(mf.Metric, mf.Metric[0]) }},
		"two pods": {pod, func(mf *dto.MetricFamily) {
			second := proto.Clone(mf.Metric[0]).(*dto.Metric)
			second.Label[0].Value = proto.String("7")
			mf.Metric = append(mf.Metric, second)
		}},
		"more errors than failures":      {"etcdbench_request_errors_total", value(1e6)},
		"more lost than answered":        {"etcdbench_requests_lost_total", value(1e6)},
		"fewer attempts than successes":  {"etcdbench_request_attempts_total", value(1)},
		"a minimum above the maximum":    {latency[:len(latency)-7] + "min_seconds", value(1e6)},
		"a minimum above a bucket":       {latency[:len(latency)-7] + "min_seconds", value(0.020)},
		"a maximum below a bucket":       {latency[:len(latency)-7] + "max_seconds", value(0.020)},
		"squares without end":            {latency[:len(latency)-7] + "squared_seconds_total", value(1e300)},
		"no histogram":                   {latency, func(mf *dto.MetricFamily) { mf.Metric[0].Histogram = nil }},
		"a sum that is not a number":     {latency, histogram(func(h *dto.Histogram) { h.SampleSum = proto.Float64(math.NaN()) })},
		"a negative sum":                 {latency, histogram(func(h *dto.Histogram) { h.SampleSum = proto.Float64(-1) })},
		"a sum without end":              {latency, histogram(func(h *dto.Histogram) { h.SampleSum = proto.Float64(1e300) })},
		"a count that buckets lack":      {latency, histogram(func(h *dto.Histogram) { *h.SampleCount++ })},
		"a bucket that the count lacks":  {latency, histogram(func(h *dto.Histogram) { *h.ZeroCount++ })},
		"a count beyond float64":         {latency, histogram(func(h *dto.Histogram) { *h.SampleCount = 1 << 60 })},
		"a schema that is too fine":      {latency, histogram(func(h *dto.Histogram) { *h.Schema = 8 })},
		"a schema that is too coarse":    {latency, histogram(func(h *dto.Histogram) { *h.Schema = -1 })},
		"a schema of custom buckets":     {latency, histogram(func(h *dto.Histogram) { *h.Schema = -53 })},
		"no schema but buckets":          {latency, histogram(func(h *dto.Histogram) { h.Schema = nil })},
		"another zero bucket":            {latency, histogram(func(h *dto.Histogram) { *h.ZeroThreshold = 1 })},
		"floating-point counts":          {latency, histogram(func(h *dto.Histogram) { h.PositiveCount = []float64{1} })},
		"negative durations":             {latency, histogram(func(h *dto.Histogram) { h.NegativeDelta = []int64{1} })},
		"a bucket with a negative count": {latency, histogram(func(h *dto.Histogram) { h.PositiveDelta[0] = -1 })},
		"a bucket with a huge count":     {latency, histogram(func(h *dto.Histogram) { h.PositiveDelta[0] = math.MaxInt64 })},
		"a bucket too low":               {latency, histogram(func(h *dto.Histogram) { *h.PositiveSpan[0].Offset = -(results.Buckets / 2) })},
		"a bucket too high":              {latency, histogram(func(h *dto.Histogram) { *h.PositiveSpan[0].Offset = results.Buckets / 2 })},
		"a span without end":             {latency, histogram(func(h *dto.Histogram) { *h.PositiveSpan[0].Length = math.MaxUint32 })},
		"a span that goes back": {latency, histogram(func(h *dto.Histogram) {
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: proto.Int32(-1), Length: proto.Uint32(0)})
		})},
		"a count too many": {latency, histogram(func(h *dto.Histogram) { h.PositiveDelta = append(h.PositiveDelta, 1) })},
		"a count too few":  {latency, histogram(func(h *dto.Histogram) { h.PositiveDelta = h.PositiveDelta[1:] })},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			all := withTimeline(failingSnapshot())
			tc.change(familyOf(t, all, tc.family))
			if s, err := Decode(all); err == nil {
				t.Errorf("decoded %+v", s)
			} else if !strings.Contains(err.Error(), "decoding results") {
				t.Errorf("the error does not name the operation: %v", err)
			}
		})
	}
}

// failingSnapshot is final and has every kind of metric that the tests change.
func failingSnapshot() *results.Snapshot {
	s := finalSnapshot(0, 1000, spec.OperationPut)
	put := s.Operations[spec.OperationPut]
	put.Failed = recorded(5e9)
	put.Errors["Unavailable"] = 1
	put.Lost, put.Attempts = 3, 1500
	return s
}

func TestDecodeRefusesMoreThanAStatusHolds(t *testing.T) {
	tests := map[string]func(*results.Snapshot){
		"members": func(s *results.Snapshot) {
			for i := range maxMembers {
				s.Target.Members = append(s.Target.Members, results.Member{ID: strings.Repeat("a", i+1)})
			}
		},
		"operations": func(s *results.Snapshot) {
			for _, operation := range spec.AllOperations()[:maxOperations+1] {
				s.Operations[operation] = &results.OperationResult{}
			}
		},
		"RPCs": func(s *results.Snapshot) {
			for i := range spec.MostRPCs {
				s.Requests[spec.RPC(strings.Repeat("A", i+1))] = map[results.Phase]uint64{results.PhaseControl: 1}
			}
		},
		"codes": func(s *results.Snapshot) {
			for i := range maxCodes {
				s.Operations[spec.OperationPut].Errors[strings.Repeat("A", i+1)] = 0
			}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			s := failingSnapshot()
			change(s)
			if _, err := Decode(withTimeline(s)); err == nil {
				t.Error("decoded")
			}
		})
	}
}

func TestDecodeRefusesMoreTextsThanAStatusHolds(t *testing.T) {
	s := failingSnapshot()
	s.Omitted = []string{"a"}
	all := withTimeline(s)
	mf := familyOf(t, all, "etcdbench_omitted_info")
	for i := range maxOmitted {
		if _, err := Decode(all); err != nil {
			t.Fatalf("%d texts: %v", i+1, err)
		}
		another := proto.Clone(mf.Metric[0]).(*dto.Metric)
		another.Label[0].Value = proto.String(strings.Repeat("A", i+1))
		mf.Metric = append(mf.Metric, another)
	}
	if _, err := Decode(all); err == nil {
		t.Error("decoded")
	}
}

func TestDecodeRefusesAFamilyTwice(t *testing.T) {
	all := withTimeline(failingSnapshot())
	if _, err := Decode(append(all, familyOf(t, all, "etcdbench_requests_total"))); err == nil {
		t.Error("decoded")
	}
}

// Without buckets, only minimum and maximum show the contradiction.
func TestDecodeRefusesAMinimumAboveTheMaximumWithoutBuckets(t *testing.T) {
	s := failingSnapshot()
	s.Operations[spec.OperationPut].Latency = histogramOf(t, results.Parts{Schema: results.MaxSchema, Count: 1, Sum: 5, Minimum: 7, Maximum: 5})
	s.Operations[spec.OperationPut].CompletedInWindow = 1
	if _, err := Decode(withTimeline(s)); err == nil {
		t.Error("decoded")
	}
}

// The zero bucket has its own count, which a span must not overwrite.
func TestDecodeRefusesASpanOverTheZeroBucket(t *testing.T) {
	h := recorded(0)
	in := nativeHistogram(&h)
	in.PositiveSpan = []*dto.BucketSpan{{Offset: proto.Int32(-(results.Buckets / 2)), Length: proto.Uint32(1)}}
	in.PositiveDelta = []int64{1}
	if _, err := decodeMessage(t, in); err == nil {
		t.Error("decoded")
	}
}

// Counts that wrap around to the right total must be refused.
func TestDecodeRefusesCountsThatOverflow(t *testing.T) {
	h := recorded(1e6)
	in := nativeHistogram(&h)
	*in.ZeroCount = math.MaxUint64
	in.PositiveDelta[0]++
	if _, err := decodeMessage(t, in); err == nil {
		t.Error("decoded")
	}
}

func TestDecodeIgnoresWhatIsNotOurs(t *testing.T) {
	want := failingSnapshot()
	foreign := &dto.MetricFamily{Name: proto.String("go_goroutines"), Metric: []*dto.Metric{{}}}
	got, err := Decode(append(withTimeline(want), foreign))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, sameSnapshot...); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
}

// Counters of an active pod are read one after the other, so they need not agree yet.
func TestDecodeTakesCountersThatDoNotAgreeYet(t *testing.T) {
	s := failingSnapshot()
	s.Stage = results.StageMeasuring
	s.Operations[spec.OperationPut].Errors["Unavailable"]++
	s.Operations[spec.OperationPut].CompletedInWindow = 1001
	if _, err := Decode(withTimeline(s)); err != nil {
		t.Error(err)
	}
}

// histogramOf builds a histogram without validation.
func histogramOf(t *testing.T, p results.Parts) results.Histogram {
	t.Helper()
	h, err := results.HistogramOf(p)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
