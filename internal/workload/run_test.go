package workload

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// someKeys and someValues are those of valid.
var (
	someKeys   = spec.Keys{Count: 100_000, SizeBytes: 8, Distribution: spec.Sequential}
	someValues = spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256}
)

func valid() Run {
	return Run{
		Prefix:   "etcdbench/0b6c6b52/",
		Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: someKeys, Values: someValues}},
		Load: spec.Load{
			Transport: spec.TransportClient, Pods: 3, Connections: 100, Clients: 1000, Requests: new(int64(100_000)),
			RequestTimeoutSeconds: 10, Seed: 1,
		},
	}
}

// forSeconds bounds the load by time instead of requests.
func forSeconds(r *Run, seconds int32) { r.Load.Requests, r.Load.DurationSeconds = nil, &seconds }

// problem is a change to a valid run, and a part of the expected message; empty if the run stays valid.
type problem struct {
	change func(*Run)
	want   string
}

func requireProblems(t *testing.T, problems map[string]problem) {
	t.Helper()
	for name, tc := range problems {
		t.Run(name, func(t *testing.T) {
			r := valid()
			tc.change(&r)
			requireProblem(t, errors.Join(r.Check(), r.CheckStore(spec.Etcd)), tc.want)
		})
	}
}

func requireProblem(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got error %v, wanted one that names %s", err, want)
	}
}

// The table contains each type of workload under the name of its settings, and nothing else.
func TestTheTableHasEveryWorkload(t *testing.T) {
	// Observe has no settings.
	want := []spec.WorkloadType{spec.WorkloadObserve}
	for field := range reflect.TypeFor[spec.Workload]().Fields() {
		if field.Type.Kind() == reflect.Pointer {
			want = append(want, spec.WorkloadType(field.Name))
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(kinds))); diff != "" {
		t.Errorf("types (-settings +table):\n%s", diff)
	}
}
