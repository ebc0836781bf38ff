package workload

import (
	"bytes"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestKeysHaveOneLengthAndSortByNumber(t *testing.T) {
	tests := map[string]struct {
		count int64
		size  int32
	}{
		"as few digits as possible": {1_000, 3},
		"padded":                    {1_001, 8},
		"long":                      {100, 256},
		"one key":                   {1, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := putOf(spec.Keys{Count: tc.count, SizeBytes: tc.size}, spec.Values{})
			var before []byte
			for number := range tc.count {
				key := w.AppendKey(nil, number)
				if len(key) != w.KeyBytes() || !bytes.HasPrefix(key, []byte("etcdbench/0b6c6b52/")) {
					t.Fatalf("key %d is %q, wanted the prefix and %d bytes", number, key, tc.size)
				}
				if bytes.Compare(before, key) >= 0 {
					t.Fatalf("key %d, %q, does not sort after %q", number, key, before)
				}
				before = key
			}
		})
	}
}

func TestKeysThatCannotBeChosen(t *testing.T) {
	keys := func(count int64, distribution spec.Distribution) func(*Run) {
		return func(r *Run) {
			r.Workload.Put.Keys = spec.Keys{Count: count, SizeBytes: 8, Distribution: distribution}
		}
	}
	zipf := func(exponent spec.Decimal) func(*Run) {
		return func(r *Run) {
			keys(2, spec.ZipfLaw)(r)
			r.Workload.Put.Keys.Zipf = &spec.Zipf{Exponent: exponent}
		}
	}
	hotSpot := func(count int64, keysPerMillion, requestsPerMillion int32) func(*Run) {
		return func(r *Run) {
			keys(count, spec.HotSpots)(r)
			r.Workload.Put.Keys.HotSpot = &spec.HotSpot{KeysPerMillion: keysPerMillion, RequestsPerMillion: requestsPerMillion}
		}
	}
	requireProblems(t, map[string]problem{
		"sequential":            {keys(1, spec.Sequential), ""},
		"uniform":               {keys(1, spec.Uniform), ""},
		"zipf":                  {zipf("0.99"), ""},
		"hot spot":              {hotSpot(2, 1000, 0), ""},
		"an unknown order":      {keys(2, "Backwards"), "keys.distribution"},
		"no keys":               {keys(0, spec.Uniform), "keys.count"},
		"no law":                {keys(2, spec.ZipfLaw), "keys.zipf.exponent"},
		"no exponent":           {zipf(""), "keys.zipf.exponent"},
		"an exponent too great": {zipf("10.001"), "keys.zipf.exponent"},
		"no number":             {zipf("NaN"), "keys.zipf.exponent"},
		"a hot key only":        {hotSpot(1, 1000, 0), "keys.count"},
		"no spot":               {keys(2, spec.HotSpots), "keys.hotSpot.keysPerMillion"},
		"no hot keys":           {hotSpot(2, 0, 0), "keys.hotSpot.keysPerMillion"},
		"hot keys only":         {hotSpot(2, 1_000_000, 0), "keys.hotSpot.keysPerMillion"},
		"too many hot requests": {hotSpot(2, 1000, 1_000_001), "keys.hotSpot.requestsPerMillion"},
	})
}

func TestValuesThatCannotBeMade(t *testing.T) {
	values := func(v spec.Values) func(*Run) { return func(r *Run) { r.Workload.Put.Values = v } }
	random := func(percent int32) func(*Run) {
		return values(spec.Values{SizeBytes: 100, Content: spec.ContentCompressible, RandomPercent: &percent})
	}
	requireProblems(t, map[string]problem{
		"zeros of any length":  {values(spec.Values{SizeBytes: 100, Content: spec.ContentZero, MinSizeBytes: new(int32), SizeDistribution: spec.SizesUniform}), ""},
		"no bytes":             {values(spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform}), ""},
		"by doublings":         {values(logUniform(1, 100)), ""},
		"unknown content":      {values(spec.Values{Content: "Lorem", SizeDistribution: spec.SizesUniform}), "values.content"},
		"unknown lengths":      {values(spec.Values{Content: spec.ContentRandom, SizeDistribution: "Normal"}), "values.sizeDistribution"},
		"doublings of nothing": {values(logUniform(0, 100)), "with LogUniform"},
		"too many zeros":       {random(-1), "values.randomPercent"},
		"less than no zeros":   {random(101), "values.randomPercent"},
		"less than no bytes":   {values(uniformly(-1, 100)), "values.minSizeBytes"},
		"longer than they are": {values(uniformly(101, 100)), "values.minSizeBytes"},
	})
}

// A store that deletes by name must know every key that the run may have written.
func TestWrittenKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Run)
		want   int64
	}{
		"bound by requests":       {func(r *Run) { r.Load.Requests = new(int64(30)) }, 30},
		"more requests than keys": {func(r *Run) { r.Load.Requests = new(int64(3_000)) }, 100},
		"bound by a duration":     {func(r *Run) { r.Load.Requests, r.Load.DurationSeconds = nil, new(int32(1)) }, 100},
		"with a warm-up":          {func(r *Run) { r.Load.Requests, r.Load.WarmupSeconds = new(int64(30)), 1 }, 100},
		"overwritten":             {func(r *Run) { r.Load.Requests, r.Workload.Put.Overwrite = new(int64(30)), true }, 100},
		"of transactions":         {func(r *Run) { transacting(3, r.Workload.Put.Keys)(r); r.Load.Requests = new(int64(30)) }, 90},
		"in any order":            {func(r *Run) { r.Load.Requests, r.Workload.Put.Keys.Distribution = new(int64(30)), spec.Uniform }, 100},
	} {
		r := valid()
		r.Workload.Put.Keys.Count, r.Workload.Put.Keys.Distribution, r.Load.WarmupSeconds = 100, spec.Sequential, 0
		if tc.change(&r); r.WrittenKeys() != tc.want {
			t.Errorf("%s: got %d, wanted %d", name, r.WrittenKeys(), tc.want)
		}
	}
}
