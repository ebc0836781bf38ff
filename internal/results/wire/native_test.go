package wire

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The result must equal client_golang's own native histogram of the same durations, bucket by bucket, at every
// resolution.
func TestNativeHistogramIsWhatPrometheusWouldWrite(t *testing.T) {
	for schema := results.MinSchema; schema <= results.MaxSchema; schema++ {
		oracle := prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:                         "oracle",
			NativeHistogramBucketFactor:  1.00001 * math.Exp2(1/float64(int(1)<<schema)),
			NativeHistogramZeroThreshold: results.ZeroThreshold,
		})
		var h results.Histogram
		r := rand.New(rand.NewPCG(1, 1))
		for range 20_000 {
			ns := int64(math.Exp2(r.Float64() * 48))
			oracle.Observe(float64(ns) / nanosecondsPerSecond)
			h.Record(ns)
		}
		h.Reduce(schema)
		var want dto.Metric
		if err := oracle.Write(&want); err != nil {
			t.Fatal(err)
		}
		options := []cmp.Option{
			protocmp.Transform(),
			// client_golang adds up seconds, this package nanoseconds.
			protocmp.IgnoreFields(&dto.Histogram{}, "sample_sum", "created_timestamp"),
		}
		if diff := cmp.Diff(want.Histogram, nativeHistogram(&h), options...); diff != "" {
			t.Errorf("histogram at schema %d (-client_golang +ours):\n%s", schema, diff)
		}
	}
}

// TestDecodeTakesNoMemoryForOtherBuckets: only for those from the lowest to the highest.
func TestDecodeTakesNoMemoryForOtherBuckets(t *testing.T) {
	for name, tc := range map[string]struct {
		durations []int64
		most      int
	}{
		"one duration":  {[]int64{5e6}, 1},
		"two doublings": {[]int64{5e6, 19e6}, 2*128 + 1},
		"zero":          {[]int64{0}, 1},
	} {
		h := recorded(tc.durations...)
		got, err := decodeMessage(t, nativeHistogram(&h))
		if err != nil {
			t.Fatal(err)
		}
		if got.Bytes() > tc.most {
			t.Errorf("%s: wanted at most %d bytes, found %d", name, tc.most, got.Bytes())
		}
	}
}

// decodeMessage decodes a histogram in both forms of its counts, which must agree.
func decodeMessage(t *testing.T, in *dto.Histogram) (*results.Histogram, error) {
	t.Helper()
	var found [2]*results.Histogram
	var errs [2]error
	for i, form := range []*dto.Histogram{in, packCounts(proto.Clone(in).(*dto.Histogram))} {
		message, err := proto.Marshal(form)
		if err != nil {
			t.Fatal(err)
		}
		found[i], errs[i] = decodeHistogram(message)
	}
	if (errs[0] == nil) != (errs[1] == nil) || errs[0] == nil && !found[0].Equal(*found[1]) {
		t.Fatalf("repeated counts decode to %v (%v), packed ones to %v (%v)", found[0], errs[0], found[1], errs[1])
	}
	return found[0], errs[0]
}

// TestDecodeRefusesExtremeSpans: sums of offsets and lengths must not overflow.
func TestDecodeRefusesExtremeSpans(t *testing.T) {
	for _, offset := range []int32{math.MinInt32, -1, 0, 1, math.MaxInt32} {
		for _, length := range []uint32{0, 1, math.MaxUint32} {
			h := recorded(5e6)
			in := nativeHistogram(&h)
			in.PositiveSpan = append(in.PositiveSpan, &dto.BucketSpan{Offset: &offset, Length: &length}, &dto.BucketSpan{Offset: &offset, Length: &length})
			if _, err := decodeMessage(t, in); err == nil && length > 0 {
				t.Errorf("decoded spans of %d buckets at %d", length, offset)
			}
		}
	}
}

// TestDecodeReadsEveryFormOfAMessage: those that every protobuf decoder must accept.
func TestDecodeReadsEveryFormOfAMessage(t *testing.T) {
	h := recorded(0, 5e6, 5e6, 19e6, 20e6, 1e9)
	whole, err := proto.Marshal(nativeHistogram(&h))
	if err != nil {
		t.Fatal(err)
	}
	var counts, rest []byte
	var deltas [][]byte
	err = eachField(whole, func(number protowire.Number, _ protowire.Type, text []byte) error {
		if number == fieldPositiveDelta {
			_, _, tag := protowire.ConsumeTag(text)
			deltas, counts = append(deltas, text[tag:]), append(counts, text[tag:]...)
		} else {
			rest = append(rest, text...)
		}
		return nil
	})
	if err != nil || len(deltas) < 3 {
		t.Fatalf("wanted a histogram with counts, found %d (%v)", len(deltas), err)
	}
	unpacked := func(delta []byte) []byte {
		return append(protowire.AppendTag(nil, fieldPositiveDelta, protowire.VarintType), delta...)
	}
	first := len(deltas[0])
	for name, message := range map[string][]byte{
		"counts before spans":    slices.Concat(field(fieldPositiveDelta, counts), rest),
		"two packs":              slices.Concat(field(fieldPositiveDelta, counts[:first]), rest, field(fieldPositiveDelta, counts[first:])),
		"a pack after a count":   slices.Concat(unpacked(deltas[0]), field(fieldPositiveDelta, counts[first:]), rest),
		"counts after a pack":    slices.Concat(rest, field(fieldPositiveDelta, counts[:len(counts)-len(deltas[len(deltas)-1])]), unpacked(deltas[len(deltas)-1])),
		"the last number counts": slices.Concat(protowire.AppendVarint(protowire.AppendTag(nil, fieldSampleCount, protowire.VarintType), 99), whole),
		"unknown fields":         slices.Concat(field(100, []byte("x")), whole, field(16, nil)),
	} {
		before := slices.Clone(message)
		got, err := decodeHistogram(message)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got.SetUnbinned(h.Unbinned()); !got.Equal(h) {
			t.Errorf("%s: wanted %d durations, found %d, or in other buckets", name, h.Count(), got.Count())
		}
		if !slices.Equal(before, message) {
			t.Errorf("%s: decoding has changed the message", name)
		}
	}
}
