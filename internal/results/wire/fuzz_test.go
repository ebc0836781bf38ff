package wire

import (
	"bytes"
	"math"
	"reflect"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire/hostile"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// maxDecodingBytes bounds the allocations of reading the worst body, including the snapshot. The operator reads several
// bodies at a time.
const maxDecodingBytes = 64 << 20

// Any bytes that decode must give a snapshot that survives another encoding, and from which everything can be computed.
func FuzzRead(f *testing.F) {
	for _, s := range []*results.Snapshot{failingSnapshot(), typicalSnapshot(), guarded(failingSnapshot()), randomSnapshot(1)} {
		f.Add(bodyOf(f, withTimeline(s)))
		f.Add(bodyOf(f, Served(s)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := allocated()
		s, err := Read(bytes.NewReader(body), ScrapeAccept)
		if grown := allocated() - before; grown > maxDecodingBytes {
			t.Errorf("reading %d bytes allocated %d", len(body), grown)
		}
		if err == nil {
			requireSound(t, s)
		}
	})
}

func FuzzDecodeTerminationMessage(f *testing.F) {
	f.Add(TerminationMessage(failingSnapshot()), false)
	f.Add(marshalNative(failingSnapshot()), true)
	f.Add(marshalNative(typicalSnapshot()), true)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealed(newDeflater().deflate(data))
		}
		before := allocated()
		s, err := DecodeTerminationMessage(data)
		if grown := allocated() - before; grown > maxDecodingBytes {
			t.Errorf("reading a message of %d bytes allocated %d", len(data), grown)
		}
		if err == nil {
			requireSound(t, s)
			requireMessage(t, s)
		}
	})
}

// FuzzTerminationMessage: any snapshot that can be decoded can be encoded as a termination message.
func FuzzTerminationMessage(f *testing.F) {
	f.Add(uint64(1), []byte{})
	f.Fuzz(func(t *testing.T, seed uint64, program []byte) {
		if s, err := Decode(hostile.Change(withTimeline(randomSnapshot(seed)), program)); err == nil {
			requireMessage(t, s)
		}
	})
}

func requireMessage(t *testing.T, s *results.Snapshot) {
	t.Helper()
	message := TerminationMessage(s)
	if _, err := DecodeTerminationMessage(message); err != nil || len(message) > MaxTerminationBytes {
		t.Fatalf("the termination message of %d bytes cannot be read: %v", len(message), err)
	}
}

// Random bytes are rarely valid families; changes of valid families mostly are.
func FuzzDecode(f *testing.F) {
	for change := range hostile.MetricChanges {
		f.Add(uint64(1), hostile.Number(change, uint16(change), 0, 1<<47))
	}
	f.Fuzz(func(t *testing.T, seed uint64, program []byte) {
		of := randomSnapshot(seed)
		if of.Target != nil {
			guarded(of)
		}
		if s, err := Decode(hostile.Change(withTimeline(of), program)); err == nil {
			requireSound(t, s)
		}
	})
}

func bodyOf(t testing.TB, all []*dto.MetricFamily) []byte {
	t.Helper()
	var body bytes.Buffer
	for _, mf := range all {
		if _, err := protodelim.MarshalTo(&body, mf); err != nil {
			t.Fatal(err)
		}
	}
	return body.Bytes()
}

// allocated is how many bytes the process has ever allocated.
func allocated() uint64 {
	read := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(read)
	return read[0].Value.Uint64()
}

// asDecoded compares snapshots up to the float64 precision of sums and of durations above 26 days.
var asDecoded = []cmp.Option{
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b time.Duration) bool { return near(float64(a), float64(b)) }),
	cmp.Comparer(func(a, b results.Histogram) bool {
		p, q := a.Parts(), b.Parts()
		same := near(p.Sum, q.Sum) && near(p.SumSquares, q.SumSquares) && near(float64(p.Minimum), float64(q.Minimum)) && near(float64(p.Maximum), float64(q.Maximum))
		q.Sum, q.SumSquares, q.Minimum, q.Maximum = p.Sum, p.SumSquares, p.Minimum, p.Maximum
		b, err := results.HistogramOf(q)
		return err == nil && a.Equal(b) && (same || p.Count == 0)
	}),
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(a, b) }

// requireSound checks that a decoded snapshot survives another encoding, and that it and everything computed from it is
// within bounds.
func requireSound(t *testing.T, s *results.Snapshot) {
	t.Helper()
	requirePlain(t, "snapshot", reflect.ValueOf(s))
	again, err := Decode(withTimeline(s))
	if err != nil {
		t.Fatalf("the decoded value cannot be decoded again: %v", err)
	}
	if diff := cmp.Diff(s, again, asDecoded...); diff != "" {
		t.Fatalf("the decoded value changes when it is encoded (-read +written):\n%s", diff)
	}
	summary := results.Summarize([]*results.Snapshot{s, again, nil})
	summary.Merged.Index = 0
	requirePlain(t, "summary", reflect.ValueOf(summary))
	merged := results.Merge([]*results.Snapshot{s, again})
	merged.Index = 0
	requirePlain(t, "merge", reflect.ValueOf(merged))
}

// requirePlain walks a value: numbers must not be negative or NaN, and texts must be printable.
func requirePlain(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			requirePlain(t, path, v.Elem())
		}
	case reflect.Struct:
		requirePlainStruct(t, path, v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			requirePlain(t, path+"[]", v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			requirePlain(t, path+" key", key)
			requirePlain(t, path+"."+key.String(), v.MapIndex(key))
		}
	case reflect.String:
		if v.String() != text.Printable(v.String()) {
			t.Fatalf("%s is %q", path, v.String())
		}
	case reflect.Int, reflect.Int64:
		if v.Int() < 0 {
			t.Fatalf("%s is %d", path, v.Int())
		}
	case reflect.Float64:
		if !(v.Float() >= 0) {
			t.Fatalf("%s is %v", path, v.Float())
		}
	}
}

func requirePlainStruct(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch value := v.Interface().(type) {
	case time.Time:
		if year := value.Year(); year > 2600 {
			t.Fatalf("%s is in the year %d", path, year)
		}
	case results.Histogram:
		requireSoundHistogram(t, path, &value)
	default:
		for i := range v.NumField() {
			requirePlain(t, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	}
}

// requireSoundHistogram checks that counts add up and percentiles are ordered, at every resolution.
func requireSoundHistogram(t *testing.T, path string, h *results.Histogram) {
	t.Helper()
	if h.Mean() < 0 || h.Stddev() < 0 || h.Min() < 0 || h.Max() < h.Min() {
		t.Fatalf("%s has mean %v, deviation %v, minimum %v, maximum %v", path, h.Mean(), h.Stddev(), h.Min(), h.Max())
	}
	reduced := h.Clone()
	for schema := h.Schema(); schema >= results.MinSchema; schema-- {
		reduced.Reduce(schema)
		total := reduced.ZeroCount()
		for _, n := range reduced.NativeBuckets() {
			total += n
		}
		if reduced.HasBuckets() && total != h.Count() {
			t.Fatalf("%s at schema %d counts %d of %d", path, schema, total, h.Count())
		}
	}
	last := h.Min()
	for _, q := range []float64{0.01, 0.5, 0.99, 1} {
		value, known := h.Quantile(q)
		if known && (value < last || value > h.Max()) {
			t.Fatalf("%s: quantile %v is %v, between %v and %v", path, q, value, last, h.Max())
		}
		last = max(last, value)
	}
}

// FuzzHistogram varies the parts of a native histogram: schemas, spans and counts of any size.
func FuzzHistogram(f *testing.F) {
	f.Add(int32(7), uint64(4), 4e-3, uint64(1), results.ZeroThreshold, []byte{2, 0, 3, 1}, []byte{1, 0, 0})
	f.Add(int32(0), uint64(1), math.NaN(), uint64(0), 0.0, []byte{0x80, 0xff}, []byte{})
	f.Add(int32(-53), uint64(math.MaxUint64), math.Inf(1), uint64(math.MaxUint64), -1.0, []byte{0, 1}, []byte{0x80})
	f.Fuzz(func(t *testing.T, schema int32, count uint64, sum float64, zeros uint64, threshold float64, spans, deltas []byte) {
		in := &dto.Histogram{Schema: &schema, SampleCount: &count, SampleSum: &sum, ZeroCount: &zeros, ZeroThreshold: &threshold}
		for ; len(spans) >= 2; spans = spans[2:] {
			in.PositiveSpan = append(in.PositiveSpan, &dto.BucketSpan{Offset: proto.Int32(int32(int8(spans[0])) * 16), Length: proto.Uint32(uint32(spans[1]))})
		}
		for _, d := range deltas {
			// Small numbers, and numbers beyond the limits in both directions.
			in.PositiveDelta = append(in.PositiveDelta, int64(int8(d))<<(d%4*16))
		}
		h, err := decodeMessage(t, in)
		if err != nil {
			return
		}
		const longest = results.MaxSeconds * nanosecondsPerSecond
		setMaximum(t, h, longest)
		requireSoundHistogram(t, "histogram", h)
		again, err := decodeMessage(t, nativeHistogram(h))
		if err != nil {
			t.Fatalf("the decoded value cannot be decoded again: %v", err)
		}
		setMaximum(t, again, longest)
		if diff := cmp.Diff(*h, *again, asDecoded...); diff != "" {
			t.Fatalf("the decoded value changes when it is encoded (-read +written):\n%s", diff)
		}
	})
}

// Every cleaned text is a valid label, and cleaning it again does not change it.
func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("a\nb\x1b[2J\xff\u202e")
	f.Fuzz(func(t *testing.T, value string) {
		cleaned := text.Printable(value)
		if text.Printable(cleaned) != cleaned || len(cleaned) > text.MaxBytes {
			t.Errorf("%q becomes %q, of %d bytes", value, cleaned, len(cleaned))
		}
	})
}

func setMaximum(t *testing.T, h *results.Histogram, ns int64) {
	t.Helper()
	change(h, func(u *results.Unbinned) { u.Maximum = ns })
}
