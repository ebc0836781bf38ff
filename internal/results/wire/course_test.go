package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// coursed is the snapshot of a pod with a course of this length.
func coursed(seed uint64, length time.Duration, n int) *results.Snapshot {
	r := rand.New(rand.NewPCG(14, seed))
	s := &results.Snapshot{RunUID: "run", Index: int(seed)}
	for range n {
		offset := time.Duration(r.Int64N(int64(length)))
		latency := time.Duration(20e6 * math.Exp(0.4*r.NormFloat64()))
		s.Timeline.Record(offset, latency, r.IntN(9) > 0)
		s.Timeline.Carry(offset, results.Bodies{Sent: 1000, Received: uint64(latency)})
		s.Heatmap.Record(offset, latency)
	}
	return s
}

func withSamples(s *results.Snapshot, members, samples int) *results.Snapshot {
	s.Index, s.Samples = 0, map[string]*results.Samples{}
	for m := range members {
		own := &results.Samples{Values: map[results.Figure][]float64{}}
		for i := range samples {
			own.At = append(own.At, time.Duration(i)*5*time.Second)
			for n, figure := range results.SampledFigures {
				own.Values[figure] = append(own.Values[figure], float64(i*n)*1.25)
			}
		}
		s.Samples[strings.Repeat("f", m+1)] = own
	}
	return s
}

func TestReadCourseIsTheInverseOfMarshal(t *testing.T) {
	for seed := range uint64(50) {
		want := withSamples(coursed(seed, time.Duration(1+seed)*time.Second, int(seed)*40), 3, int(seed))
		data, err := MarshalCourse(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadCourse(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, append(sameSnapshot, cmpopts.IgnoreFields(results.Point{}, "Opened", "Closed"))...); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
		if diff := cmp.Diff(want.Timeline.Outstanding(), got.Timeline.Outstanding()); diff != "" {
			t.Fatalf("seed %d: outstanding (-want +got):\n%s", seed, diff)
		}
	}
}

// The longest course fits: 600 intervals, 150 columns and samples of five members.
func TestACourseIsBounded(t *testing.T) {
	s := withSamples(coursed(1, time.Minute, 200_000), 5, results.MaxSamples)
	data, err := MarshalCourse(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadCourse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d intervals, %d columns: %d bytes", len(got.Timeline.Points), len(got.Heatmap.Columns), len(data))
	if len(got.Timeline.Points) != results.MaxTimelinePoints || len(got.Heatmap.Columns) != results.MaxHeatmapColumns {
		t.Errorf("a usual course was folded to %d intervals and %d columns", len(got.Timeline.Points), len(got.Heatmap.Columns))
	}
	// Latencies over twelve decades, so that each column has all its buckets.
	r := rand.New(rand.NewPCG(15, 1))
	for range 400_000 {
		s.Heatmap.Record(time.Duration(r.Int64N(int64(time.Minute))), time.Duration(math.Exp(30*r.Float64())))
	}
	if data, err = MarshalCourse(s); err != nil || len(data) > MaxCourseBytes {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if got, err = ReadCourse(bytes.NewReader(data)); err != nil || len(got.Heatmap.Columns) < 30 {
		t.Errorf("%d columns, %v", len(got.Heatmap.Columns), err)
	}
}

func TestReadCourseRefuses(t *testing.T) {
	huge := `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":3,"count":1,"minNanoseconds":1000000,"maxNanoseconds":1000000,"buckets":[[-80,1]]}]}}`
	foreign := withSamples(coursed(1, time.Second, 10), 1, 2)
	foreign.Index = 1
	data, err := MarshalCourse(foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCourse(bytes.NewReader(data)); err == nil {
		t.Errorf("accepted samples of members from client pod 1")
	}
	if _, err := ReadCourse(strings.NewReader(huge)); err == nil {
		t.Errorf("accepted a bucket below the minimum")
	}
	for name, text := range map[string]string{
		"no JSON":                "x",
		"too long":               `{"runUID":"` + strings.Repeat("x", MaxCourseBytes) + `"}`,
		"another interval":       `{"timeline":{"intervalSeconds":0.15,"points":[{"succeeded":1}]}}`,
		"no interval":            `{"heatmap":{"columns":[{"schema":3}]}}`,
		"too many intervals":     `{"timeline":{"intervalSeconds":0.1,"points":[` + strings.TrimSuffix(strings.Repeat("{},", results.MaxTimelinePoints+1), ",") + `]}}`,
		"too many columns":       `{"heatmap":{"intervalSeconds":0.1,"columns":[` + strings.TrimSuffix(strings.Repeat(`{"schema":3},`, results.MaxHeatmapColumns+1), ",") + `]}}`,
		"negative durations":     `{"timeline":{"intervalSeconds":0.1,"points":[{"sumLatencyNanoseconds":-1}]}}`,
		"too many requests":      `{"timeline":{"intervalSeconds":0.1,"points":[{"succeeded":281474976710657}]}}`,
		"too many outstanding":   `{"timeline":{"intervalSeconds":0.1,"points":[{"outstanding":281474976710657}]}}`,
		"a fine column":          `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":7,"count":1,"buckets":[[0,1]],"minNanoseconds":1000000000,"maxNanoseconds":1000000000}]}}`,
		"an unknown schema":      `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":9,"count":1,"buckets":[[0,1]]}]}}`,
		"a bucket that is not":   `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":3,"count":1,"buckets":[[9999,1]]}]}}`,
		"a bucket twice":         `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":3,"count":2,"buckets":[[0,1],[0,1]],"minNanoseconds":1000000000,"maxNanoseconds":1000000000}]}}`,
		"counts that do not add": `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":3,"count":3,"buckets":[[0,1]]}]}}`,
		"a negative count":       `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":3,"count":1,"buckets":[[0,-1]]}]}}`,
		"no samples":             `{"members":{"a":null}}`,
		"an unknown figure":      `{"members":{"a":{"atSeconds":[1],"figures":{"x":[1]}}}}`,
		"samples without values": `{"members":{"a":{"atSeconds":[1,2],"figures":{"cpu_seconds":[1]}}}}`,
		"samples out of order":   `{"members":{"a":{"atSeconds":[2,1],"figures":{}}}}`,
		"no ID of a member":      `{"members":{"a\u0007":{"atSeconds":[],"figures":{}}}}`,
		"an endless sum":         `{"heatmap":{"intervalSeconds":0.1,"columns":[{"schema":3,"count":1,"sumSeconds":1e299,"buckets":[[0,1]],"minNanoseconds":1000000000,"maxNanoseconds":1000000000}]}}`,
		"a sample in eternity":   `{"members":{"a":{"atSeconds":[1e300],"figures":{}}}}`,
	} {
		if s, err := ReadCourse(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted as %+v", name, s)
		}
	}
}

// The samples of many members are thinned out before the intervals get long.
func TestACourseOfManyMembersFits(t *testing.T) {
	s := withSamples(coursed(1, time.Minute, 20_000), maxMembers, results.MaxSamples)
	for _, samples := range s.Samples {
		for figure := range samples.Values {
			for i := range samples.Values[figure] {
				samples.Values[figure][i] += 1.0 / 3
			}
		}
	}
	data, err := MarshalCourse(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadCourse(bytes.NewReader(data))
	if err != nil || len(got.Samples) != maxMembers || len(got.Heatmap.Columns) < results.MaxHeatmapColumns/4 {
		t.Errorf("%d members and %d columns, %v", len(got.Samples), len(got.Heatmap.Columns), err)
	}
}

// FuzzReadCourse: whatever is accepted can be merged, drawn and encoded again.
func FuzzReadCourse(f *testing.F) {
	for seed := range uint64(3) {
		data, err := MarshalCourse(withSamples(coursed(seed, 10*time.Second, 200), 2, 4))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadCourse(bytes.NewReader(data))
		if err != nil {
			return
		}
		merged := results.Merge([]*results.Snapshot{s, s})
		merged.Course = merged.Course.Folded(100, time.Duration(math.MaxInt64))
		for i := range merged.Heatmap.Columns {
			merged.Heatmap.Columns[i].Quantile(0.99)
		}
		if _, err := json.Marshal(NewCourse(&merged.Course)); err != nil {
			t.Error(err)
		}
	})
}
