package load

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestMissingKeysFailARequest(t *testing.T) {
	tests := map[string]struct {
		request Request
		found   int64
		want    bool
	}{
		"a swap of a key":        {Request{Operation: results.OperationCompareAndSwap}, 1, false},
		"a swap of no key":       {Request{Operation: results.OperationCompareAndSwap}, 0, true},
		"a put":                  {Request{Operation: results.OperationPut}, 0, false},
		"a read that finds":      {Request{Operation: results.OperationRange}, 1, false},
		"a read of nothing":      {Request{Operation: results.OperationRange}, 0, true},
		"a read of all":          {Request{Operation: results.OperationRange, Keys: 5}, 5, false},
		"a read of some":         {Request{Operation: results.OperationRange, Keys: 5}, 4, true},
		"a deletion":             {Request{Operation: results.OperationDelete, Keys: 1}, 1, false},
		"a deletion of no key":   {Request{Operation: results.OperationDelete, Keys: 1}, 0, true},
		"a read that finds more": {Request{Operation: results.OperationRange, Keys: 5}, 6, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.request.Missing(tc.found); (got != "") != tc.want {
				t.Errorf("%d keys found: got %q, wanted a detail: %v", tc.found, got, tc.want)
			}
		})
	}
}

// A client's requests say what the plan says, and nothing of the request before.
func TestRequestsOfIntervals(t *testing.T) {
	p := planOf(func(p *plan.Plan) {
		p.Workload.Type, p.Workload.Interval = plan.WorkloadRange, plan.Interval{Keys: 7, Limit: 3, KeysOnly: true}
	})
	c := newClient(0, nil, workload.New(p), p)
	c.prepare(workload.Operation{Kind: results.OperationRange, Key: 8})
	if r := c.request; string(r.Key) != "p/0008" || string(r.End) != "p/0014\x00" || r.Keys != 7 || r.Limit != 3 || !r.KeysOnly || r.CountOnly {
		t.Errorf("the read is %+v", r)
	}
	p.Workload.Interval = plan.Interval{Keys: 7, PageKeys: 3}
	if r := newClient(0, nil, workload.New(p), p).request; r.PageKeys != 3 || r.Stream {
		t.Errorf("the listing is %+v", r)
	}
	p.Workload.Interval = plan.Interval{Keys: 7, Stream: true}
	if r := newClient(0, nil, workload.New(p), p).request; r.PageKeys != 0 || !r.Stream {
		t.Errorf("the stream is %+v", r)
	}
	c.prepare(workload.Operation{Kind: results.OperationPut, Key: 2})
	if r := c.request; string(r.Key) != "p/0002" || len(r.End) > 0 || len(r.Value) != 8 {
		t.Errorf("the put of the preload is %+v", r)
	}
}
