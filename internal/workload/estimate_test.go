package workload

import (
	"math"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// The keys of a preload that is small compared with the load.
var fewKeys = spec.Keys{Count: 5000, SizeBytes: 8, Distribution: spec.Sequential}

func TestWriteEstimate(t *testing.T) {
	const unknown = -1
	transactions := func(s spec.STM) func(*Run) {
		return func(r *Run) {
			s.Keys, s.Values = fewKeys, someValues
			r.Workload = spec.Workload{Type: spec.WorkloadSTM, STM: &s}
		}
	}
	tests := map[string]struct {
		change func(*Run)
		// entries that are written, and how many of them fit on a page
		entries, perPage int64
	}{
		"puts by number":     {func(r *Run) {}, 100_000, 10},
		"a closed loop":      {func(r *Run) { forSeconds(r, 60) }, unknown, 1},
		"an uncounted start": {func(r *Run) { r.Load.WarmupSeconds = 1 }, 100_000, 10},
		"an open loop": {func(r *Run) {
			forSeconds(r, 60)
			r.Load.WarmupSeconds, r.Load.Rate = 5, &spec.Rate{PerSecond: 100}
		}, 6500, 10},
		"a rate that changes": {func(r *Run) {
			forSeconds(r, 10)
			r.Load.WarmupSeconds, r.Load.Rate = 5, &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 100, ToPerSecond: 300}}
		}, 500 + 2000, 10},
		"rates that follow each other": {func(r *Run) {
			r.Load.Requests, r.Load.WarmupSeconds = nil, 5
			r.Load.Rate = &spec.Rate{Stages: []spec.RateStage{{PerSecond: 200, Seconds: 10}, {PerSecond: 50, Seconds: 20}}}
		}, 1000 + 2000 + 1000, 10},
		"an open loop by number": {func(r *Run) { r.Load.WarmupSeconds, r.Load.Rate = 5, &spec.Rate{PerSecond: 100} }, 100_500, 10},
		"reads of any number": {func(r *Run) {
			r.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, Keys: fewKeys, Values: someValues}}
			forSeconds(r, 60)
		}, 5000, 10},
		"reads and writes": {func(r *Run) {
			r.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{Consistency: spec.Linearizable, ReadPercent: 80, Keys: fewKeys, Values: someValues}}
		}, 25_000, 10},
		"puts that overwrite":              {func(r *Run) { r.Workload.Put.Overwrite, r.Workload.Put.Keys = true, fewKeys }, 105_000, 10},
		"transactions":                     {transacting(8, someKeys), 800_000, 10},
		"compare and swap":                 {transacting(0, fewKeys), 105_000, 10},
		"software transactions":            {transactions(spec.STM{KeysPerTransaction: 5, WritePercent: 30, Locker: spec.LockerNone}), 155_000, 10},
		"software transactions with locks": {transactions(spec.STM{KeysPerTransaction: 5, WritePercent: 20, Locker: spec.LockerRPC}), 305_000, 10},
		"watched puts": {watching(func(r *Run) {
			r.Workload.Watch.Keys, r.Workload.Watch.Values = fewKeys, someValues
		}), 105_000, 10},
		"histories":              {replaying(func(r *Run) { r.Workload.WatchGet.Keys = fewKeys }), 5000 + 3*8, 10},
		"locks":                  {locking(spec.Lock{Names: 1000}), 200_000, 36},
		"leases":                 {leasing(spec.Lease{Operation: spec.LeaseGrant}), unknown, 1},
		"three in a page":        {func(r *Run) { r.Workload.Put.Values.SizeBytes = 1024 }, 100_000, 3},
		"what no plan has known": {func(r *Run) { r.Workload.Type = "Nothing" }, unknown, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := valid()
			tc.change(&r)
			got, known := r.WriteEstimate()
			if want := int64(float64(tc.entries) * 4096 / float64(tc.perPage)); known != (tc.entries != unknown) || known && got != want {
				t.Errorf("got %d bytes (known: %v), wanted %d", got, known, want)
			}
		})
	}
}

func TestWriteEstimateOfLargeEntries(t *testing.T) {
	r := valid()
	r.Workload.Put.Values.SizeBytes, r.Load.Requests = 10_000, new(int64(10))
	if got, _ := r.WriteEstimate(); got != 10*3*4096 {
		t.Errorf("got %d bytes for 10 values of 10,000, wanted three pages for each", got)
	}
	r.Workload.Put.Values.SizeBytes, r.Load.Requests = spec.MaxRequestBytes, new(int64(1<<60))
	if got, known := r.WriteEstimate(); !known || got <= 0 {
		t.Errorf("got %d bytes for more than any disk holds, wanted very many", got)
	}
}

// A run with mostly short values is not refused because of the longest.
func TestWriteEstimateOfLengthsThatDiffer(t *testing.T) {
	r := valid()
	r.Workload.Put.Values.SizeBytes, r.Load.Requests = 1_000_000, new(int64(1000))
	all, _ := r.WriteEstimate()
	r.Workload.Put.Values = logUniform(1000, 1_000_000)
	if got, _ := r.WriteEstimate(); math.Abs(float64(got)/float64(all)-1/math.Log(1000)) > 0.01 {
		t.Errorf("got %d bytes, wanted 1 / log(1000) of the %d of long values", got, all)
	}
}

// A deletion leaves a key without a value, and the objects of a cluster have the lengths of their kinds.
func TestWriteEstimateOfEntriesThatDiffer(t *testing.T) {
	tests := map[string]struct {
		change func(*Run)
		want   float64
	}{
		"deletions": {func(r *Run) {
			r.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: someKeys, Values: someValues}}
		}, 100_000*4096/10 + 100_000*4096/40},
		// In a minute, 300 leases are renewed, 5 to a page; 30 pods of two pages are written; deletions leave 6 keys of
		// pods; and 30 events are written.
		"a cluster": {
			serving(func(*Run) {}),
			50*4096/5. + 1500*2*4096 + 100_000*(300*4096/5.+30*2*4096+6*4096/28.+30*4096/4.)/373,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := valid()
			tc.change(&r)
			if got, known := r.WriteEstimate(); !known || math.Abs(float64(got)-tc.want) > 1 {
				t.Errorf("got %d bytes (known: %v), wanted %.0f", got, known, tc.want)
			}
		})
	}
}

// Keys that expire are written before, as often as the run's settings determine.
func TestWriteEstimateOfExpiringKeys(t *testing.T) {
	r := valid()
	forSeconds(&r, 60)
	r.Load.Rate = &spec.Rate{PerSecond: 10}
	without, _ := r.WriteEstimate()
	r.Disturbances = []spec.Disturbance{storm(1000, 10, 5)}
	with, ok := r.WriteEstimate()
	if more := with - without; !ok || more < 6*10_000*2*64 || more > 6*10_000*2*200 {
		t.Errorf("six storms of 10,000 keys are expected to write %d bytes (%t)", more, ok)
	}
	r.Load.Requests, r.Load.DurationSeconds = new(int64(100)), nil
	if _, ok := r.WriteEstimate(); ok {
		t.Error("got an estimate for a load bound by requests, wanted none: the number of storms is unknown")
	}
}

func TestWritesMore(t *testing.T) {
	tests := map[string]struct {
		change func(*Run)
		want   bool
	}{
		"a closed loop with a warm-up": {func(r *Run) { r.Load.WarmupSeconds = 2 }, true},
		"without a warm-up":            {func(r *Run) {}, false},
		"an open loop":                 {func(r *Run) { r.Load.WarmupSeconds, r.Load.Rate = 2, &spec.Rate{PerSecond: 100} }, false},
		"a rate that changes": {func(r *Run) {
			r.Load.WarmupSeconds, r.Load.Rate = 2, &spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 1, ToPerSecond: 2}}
		}, false},
		"bound by a time": {func(r *Run) { r.Load.WarmupSeconds = 2; forSeconds(r, 60) }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := valid()
			tc.change(&r)
			if got := r.WritesMore(); got != tc.want {
				t.Errorf("writes more than its estimate: %v, wanted %v", got, tc.want)
			}
		})
	}
}

func TestContent(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Run)
		keys   int64
	}{
		"keys that exist":   {func(r *Run) { r.Workload.Put.Overwrite, r.Workload.Put.Keys = true, fewKeys }, 5_000},
		"keys of all puts":  {func(r *Run) { r.Workload.Put.Keys = spec.Keys{Count: 1_000_000, SizeBytes: 8} }, 100_000},
		"several of a time": {transacting(8, spec.Keys{Count: 900_000, SizeBytes: 8}), 800_000},
		"fewer keys":        {func(r *Run) { r.Workload.Put.Keys = fewKeys }, 5_000},
		"no end is known":   {func(r *Run) { forSeconds(r, 60); r.Workload.Put.Keys = fewKeys }, 5_000},
	} {
		r := valid()
		tc.change(&r)
		if got, want := r.Content(), tc.keys*int64(len(r.Prefix)+8+256); got != want {
			t.Errorf("%s: wanted %d keys, which are %d bytes, found %d bytes", name, tc.keys, want, got)
		}
	}
}
