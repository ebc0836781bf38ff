package load

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

func TestMissingKeysFailARequest(t *testing.T) {
	swaps := spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnCompareAndSwap, Keys: fewKeys(), Values: shortValues()}}
	puts := spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: fewKeys(), Values: shortValues()}}
	deletions := spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: fewKeys(), Values: shortValues()}}
	reads := func(keys int64, c spec.Consistency) spec.Workload {
		return spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{Delivery: spec.DeliveryWhole, KeysPerRequest: keys, Consistency: c, Keys: fewKeys(), Values: shortValues()}}
	}
	tests := map[string]struct {
		workload spec.Workload
		found    int64
		want     string
	}{
		"a swap of a key":        {swaps, 1, ""},
		"a swap of no key":       {swaps, 0, "the key does not exist"},
		"a put":                  {puts, 0, ""},
		"a read that finds":      {reads(1, spec.Linearizable), 1, ""},
		"a read of nothing":      {reads(1, spec.Linearizable), 0, "the key does not exist"},
		"a read of all":          {reads(5, spec.Linearizable), 5, ""},
		"a read of some":         {reads(5, spec.Serializable), 4, "1 of 5 keys do not exist; a member that lags behind may not have it yet"},
		"a deletion":             {deletions, 1, ""},
		"a deletion of no key":   {deletions, 0, "the key does not exist"},
		"a read that finds more": {reads(5, spec.Linearizable), 6, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planOf(func(p *plan.Plan) { p.Workload = tc.workload })
			w := workload.New(p.Run)
			c := newClient(0, nil, w, p, always())
			c.prepare(w.At(workload.Measured, 0))
			if got := c.request.Missing(tc.found); got != tc.want {
				t.Errorf("%d keys found: got %q, wanted %q", tc.found, got, tc.want)
			}
		})
	}
}

// A request carries the settings of the plan, and nothing from the previous request.
func TestRequestsOfIntervals(t *testing.T) {
	p := planOf(func(p *plan.Plan) {
		p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
			Delivery: spec.DeliveryWhole, KeysPerRequest: 7, Limit: new(int64(3)), KeysOnly: true, Consistency: spec.Serializable, Keys: fewKeys(), Values: shortValues(),
		}}
	})
	c := newClient(0, nil, workload.New(p.Run), p, always())
	c.prepare(workload.Operation{Kind: spec.OperationRange, Stream: workload.Measured, Key: 8, Needs: 7})
	if r := c.request; string(r.Key) != "p/0008" || string(r.End) != "p/0014\x00" || r.Needs != 7 || r.Consistency != spec.Serializable || r.Preload {
		t.Errorf("the read is %+v", r)
	}
	c.prepare(workload.Write(2, 2))
	if r := c.request; string(r.Key) != "p/0002" || len(r.End) > 0 || len(r.Value) != 8 || r.Needs != 0 || !r.Preload {
		t.Errorf("the put of the preload is %+v", r)
	}
}
