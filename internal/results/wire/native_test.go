package wire

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
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
