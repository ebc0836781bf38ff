package workload

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// fetching is a burst of 1000 processes with 10 parameters of 20 bytes.
func fetching(f spec.Fetch) func(*Run) {
	return func(r *Run) {
		f.ParametersPerProcess, f.ParameterBytes, f.Parameters, f.Consistency = 10, 20, spec.ParametersShared, spec.Serializable
		f.Connect, f.TimeoutMilliseconds, f.Attempts = spec.ConnectBefore, 250, 3
		r.Workload = spec.Workload{Type: spec.WorkloadFetch, Fetch: &f}
		r.Load.Requests = new(int64(r.Load.Clients))
	}
}

func fetchOf(change func(*spec.Fetch)) *Workload {
	r := valid()
	fetching(spec.Fetch{})(&r)
	change(r.Workload.Fetch)
	return New(r)
}

// reads are the keys that task n reads, by its requests. A read of several keys is what lies below a folder.
func reads(w *Workload, n int64) (keys []string) {
	for op, more := w.At(Measured, n), true; more; op, _, more = w.Next(op, "") {
		if op.Subject == OnFolder {
			keys = append(keys, fmt.Sprintf("%s to %s", w.AppendFolder(nil, op.Key), w.AppendFolderEnd(nil, op.Key)))
			continue
		}
		keys = append(keys, string(w.AppendKey(nil, op.Key)))
	}
	return keys
}

func TestATaskReadsAllItsParameters(t *testing.T) {
	const prefix = "etcdbench/0b6c6b52/"
	for name, tc := range map[string]struct {
		layout spec.Layout
		sets   spec.ParameterSets
		want   []string
	}{
		"fragments":     {spec.LayoutFragmented, spec.ParametersShared, []string{prefix + "00000000", prefix + "00000001", prefix + "00000002"}},
		"own fragments": {spec.LayoutFragmented, spec.ParametersOwn, []string{prefix + "00000021", prefix + "00000022", prefix + "00000023"}},
		"a blob":        {spec.LayoutBlob, spec.ParametersShared, []string{prefix + "00000000"}},
		"an own blob":   {spec.LayoutBlob, spec.ParametersOwn, []string{prefix + "00000007"}},
		"flat":          {spec.LayoutFlat, spec.ParametersShared, []string{prefix + "0/ to " + prefix + "00"}},
		"own flat":      {spec.LayoutFlat, spec.ParametersOwn, []string{prefix + "007/ to " + prefix + "0070"}},
		"own tree":      {spec.LayoutTree, spec.ParametersOwn, []string{prefix + "007/ to " + prefix + "0070"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := fetchOf(func(f *spec.Fetch) { f.Layout, f.Parameters, f.ParametersPerProcess = tc.layout, tc.sets, 3 })
			if diff := cmp.Diff(tc.want, reads(w, 7)); diff != "" {
				t.Errorf("what is read (-want +got):\n%s", diff)
			}
			if op := w.At(Measured, 7); op.Kind != spec.OperationRange {
				t.Errorf("the requests are %s, wanted reads", op.Kind)
			}
		})
	}
}

// Below the folder of a process lie all its keys, and no other.
func TestAFolderHasTheKeysOfOneProcess(t *testing.T) {
	for _, layout := range []spec.Layout{spec.LayoutFlat, spec.LayoutTree} {
		for _, parameters := range []int32{1, 5, 6, 100, 10_000} {
			w := fetchOf(func(f *spec.Fetch) {
				f.Layout, f.Parameters, f.ParametersPerProcess = layout, spec.ParametersOwn, parameters
			})
			var all []string
			for k := range min(w.PreloadCount(), 3*int64(parameters)) {
				key := w.AppendKey(nil, w.Preload(k).Key)
				set := k / int64(parameters)
				if len(key) > w.KeyBytes() || bytes.Compare(key, w.AppendFolder(nil, set)) < 0 || bytes.Compare(key, w.AppendFolderEnd(nil, set)) >= 0 {
					t.Fatalf("%s: key %d is %s, wanted it below %s with at most %d bytes", layout, k, key, w.AppendFolder(nil, set), w.KeyBytes())
				}
				all = append(all, string(key))
			}
			if slices.Sort(all); len(slices.Compact(all)) != 3*int(parameters) {
				t.Errorf("%s: %d parameters of 3 processes have %d different keys", layout, parameters, len(slices.Compact(all)))
			}
		}
	}
}

func TestATreeHasFiveParametersInAFolderAndRepeatsThePath(t *testing.T) {
	w := fetchOf(func(f *spec.Fetch) { f.Layout, f.ParametersPerProcess = spec.LayoutTree, 100 })
	for key, want := range map[int64]string{0: "0/0", 4: "0/4", 5: "0/a/a0", 14: "0/b/b4", 15: "0/a/aa/aa0", 34: "0/b/bb/bb4", 99: "0/a/ab/aba/abaa/abaa4"} {
		if got := strings.TrimPrefix(string(w.AppendKey(nil, key)), "etcdbench/0b6c6b52/"); got != want {
			t.Errorf("key %d is %s, wanted %s", key, got, want)
		}
	}
}

func TestParametersAreTextOfTheirLength(t *testing.T) {
	w := fetchOf(func(f *spec.Fetch) { f.Layout = spec.LayoutBlob })
	value := w.Value(w.Preload(0).Value)
	if len(value) != 200 || bytes.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
		t.Errorf("the value is %q, wanted 200 letters and digits", value)
	}
}

// A failed request ends the task, and the client does not send the next ones.
func TestAFailureEndsATask(t *testing.T) {
	w := fetchOf(func(f *spec.Fetch) { f.Layout = spec.LayoutFragmented })
	if _, _, more := w.Next(w.At(Measured, 0), "Unavailable"); more {
		t.Error("a task goes on after a failed request")
	}
}

func TestValidateRefusesAFetch(t *testing.T) {
	with := func(change func(*Run)) func(*Run) {
		return func(r *Run) {
			fetching(spec.Fetch{Layout: spec.LayoutFlat})(r)
			change(r)
		}
	}
	settings := func(change func(*spec.Fetch)) func(*Run) { return with(func(r *Run) { change(r.Workload.Fetch) }) }
	requireProblems(t, map[string]problem{
		"good":                    {with(func(*Run) {}), ""},
		"over JSON":               {with(func(r *Run) { r.Load.Transport, r.Load.Connections = spec.TransportJSON, 1000 }), ""},
		"another layout":          {settings(func(f *spec.Fetch) { f.Layout = "Round" }), "workload.fetch.layout"},
		"another set":             {settings(func(f *spec.Fetch) { f.Parameters = "Theirs" }), "workload.fetch.parameters"},
		"another time to connect": {settings(func(f *spec.Fetch) { f.Connect = "Later" }), "workload.fetch.connect"},
		"other reads":             {settings(func(f *spec.Fetch) { f.Consistency = spec.SyncRead }), "workload.consistency"},
		"no parameters":           {settings(func(f *spec.Fetch) { f.ParametersPerProcess = 0 }), "workload.fetch.parametersPerProcess"},
		"no time":                 {settings(func(f *spec.Fetch) { f.TimeoutMilliseconds = 0 }), "workload.fetch.timeoutMilliseconds"},
		"no attempt":              {settings(func(f *spec.Fetch) { f.Attempts = 0 }), "workload.fetch.attempts"},
		"a slow ramp":             {settings(func(f *spec.Fetch) { f.RampSeconds = 3601 }), "workload.fetch.rampSeconds"},
		"a blob that etcd refuses": {settings(func(f *spec.Fetch) {
			f.Layout, f.ParametersPerProcess, f.ParameterBytes = spec.LayoutBlob, 1001, 1500
		}), "workload.fetch.parameterBytes: wanted values of at most 1500000 bytes, found 1501500"},
		"a blob that overflows": {settings(func(f *spec.Fetch) {
			f.Layout, f.ParametersPerProcess, f.ParameterBytes = spec.LayoutBlob, 10_000, 1_500_000
		}), "workload.fetch.parameterBytes"},
		"a response too long": {settings(func(f *spec.Fetch) { f.ParametersPerProcess, f.ParameterBytes = 10_000, 5000 }), "workload.fetch.parametersPerProcess: wanted responses"},
		"too many keys": {with(func(r *Run) {
			f := r.Workload.Fetch
			f.Parameters, f.ParametersPerProcess = spec.ParametersOwn, 10_000
			r.Load.Clients, r.Load.Requests = 100_001, new(int64(100_001))
		}), "keys.count"},
		"responses that a client pod has room for": {with(func(r *Run) {
			r.Workload.Fetch.ParametersPerProcess, r.Workload.Fetch.ParameterBytes, r.Load.Pods = 100, 25_000, 2
		}), ""},
		"responses above the memory of a client pod": {with(func(r *Run) {
			r.Workload.Fetch.ParametersPerProcess, r.Workload.Fetch.ParameterBytes, r.Load.Pods = 100, 25_000, 1
		}), "load.clients: wanted processes whose responses"},
		"connections above the memory of a client pod": {with(func(r *Run) {
			r.Load.Clients, r.Load.Connections, r.Load.Requests, r.Load.Pods = 20_000, 20_000, new(int64(20_000)), 1
		}), "load.clients: wanted processes whose responses and connections"},
		"shared connections at the start": {settings(func(f *spec.Fetch) { f.Connect = spec.ConnectAtStart }), "load.connections"},
		"other requests":                  {with(func(r *Run) { r.Load.Requests = new(int64(5)) }), "load: wanted as many requests as clients"},
		"a rate":                          {with(func(r *Run) { r.Load.Rate = &spec.Rate{PerSecond: 5, Arrival: spec.ArrivalConstant} }), "load: wanted as many requests as clients"},
		"a warm-up":                       {with(func(r *Run) { r.Load.WarmupSeconds = 1 }), "load.warmupSeconds"},
	})
}
