package benchmark

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestReportHoldsEveryRequest(t *testing.T) {
	snaps := []*results.Snapshot{runtest.Measured(0, 300), runtest.Measured(1, 200, runtest.Failing(7, "Unavailable", time.Millisecond))}
	data, err := Report(runtest.Puts(), results.Summarize(snaps))
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	histograms := got.Operations[0].Histograms
	for name, want := range map[string]int64{"latency": 500, "failed": 7} {
		if n := inBuckets(histograms[name]); n != want || histograms[name].Count != uint64(want) {
			t.Errorf("%s: wanted %d requests, got %d in buckets and a count of %d", name, want, n, histograms[name].Count)
		}
	}
	if _, found := histograms["censored"]; found {
		t.Error("an empty histogram is in the report")
	}
	if got.Summary.MeasuredRequests != 507 {
		t.Errorf("wanted the summary in the report, got %+v", got.Summary)
	}
}

func inBuckets(h wire.Histogram) int64 {
	n := int64(h.ZeroCount)
	for _, b := range h.Buckets {
		n += b[1]
	}
	return n
}

// The widest possible histograms must fit, and count all requests.
func TestReportFitsIntoAConfigMap(t *testing.T) {
	op := func() *results.OperationResult {
		r := &results.OperationResult{}
		for _, h := range []*results.Histogram{&r.Latency, &r.Service, &r.Lateness, &r.Failed, &r.Censored} {
			fillWide(h)
		}
		return r
	}
	merged := runtest.Measured(0, 1)
	merged.Operations = map[spec.Operation]*results.OperationResult{spec.OperationPut: op(), spec.OperationRange: op()}
	data, err := Report(runtest.Puts(), results.Summarize([]*results.Snapshot{merged}))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > MaxReportBytes {
		t.Errorf("wanted at most %d bytes, got %d", MaxReportBytes, len(data))
	}
	var got report
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if h := got.Operations[1].Histograms["latency"]; inBuckets(h) != int64(merged.Operations[spec.OperationRange].Latency.Count()) {
		t.Errorf("buckets at schema %d do not add up", h.Schema)
	}
}

// fillWide puts large counts into nearly all buckets.
func fillWide(h *results.Histogram) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		h.Record(int64(random.ExpFloat64() * float64(uint64(1)<<random.IntN(50))))
	}
	for range 40 {
		same := h.Clone()
		h.Merge(&same)
	}
}

// Each pod can report many different error codes; the report holds the most frequent ones.
func TestReportBoundsErrorCodes(t *testing.T) {
	merged := runtest.Measured(0, 1)
	errors := merged.Operations[spec.OperationPut].Errors
	for i := range 10_000 {
		errors[fmt.Sprint(strings.Repeat("x", 500), i)] = uint64(i)
	}
	data, err := Report(runtest.Puts(), results.Summarize([]*results.Snapshot{merged}))
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(data, &got); err != nil || len(got.Operations[0].ErrorCounts) != v1alpha1.MaxErrorCodes {
		t.Errorf("got %d codes (%v), wanted the most frequent %d", len(got.Operations[0].ErrorCounts), err, v1alpha1.MaxErrorCodes)
	}
}
