package etcd

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// answered returns how many bytes etcd says it has sent to its clients.
func answered(t *testing.T, cluster *etcdtest.Cluster) float64 {
	t.Helper()
	return metricsOf(t, cluster)["etcd_network_client_grpc_sent_bytes_total"].GetMetric()[0].GetCounter().GetValue()
}

// What etcd sends for each request is what the plan asks for: ten keys of 1,000
// bytes, some of them, no values, or no keys.
func TestReadsReturnWhatIsAskedFor(t *testing.T) {
	cluster, _ := oneMember(t)
	tests := map[string]struct {
		interval    plan.Interval
		least, most float64
	}{
		"one key":   {plan.Interval{}, 1_000, 1_200},
		"ten keys":  {plan.Interval{Keys: 10}, 10_000, 11_200},
		"a page":    {plan.Interval{Keys: 10, Limit: 2}, 2_000, 2_400},
		"keys only": {plan.Interval{Keys: 10, KeysOnly: true}, 300, 700},
		"a count":   {plan.Interval{Keys: 10, CountOnly: true}, 10, 150},
	}
	for name, tc := range tests {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				p.Workload.Type, p.Workload.KeyCount, p.Workload.ValueSize = plan.WorkloadRange, 20, 1_000
				p.Workload.KeyOrder, p.Workload.Interval = plan.KeyOrderUniform, tc.interval
			})
			before := answered(t, cluster)
			snapshots := runAll(t, p)
			each := (answered(t, cluster) - before) / float64(p.Load.Requests)
			if n := successes(snapshots); n != uint64(p.Load.Requests) || each < tc.least || each > tc.most {
				t.Errorf("%s: %d of %d succeeded, %.0f bytes each, wanted %.0f to %.0f", name, n, p.Load.Requests, each, tc.least, tc.most)
			}
		})
	}
}

// Serializable reads are answered by the contacted member alone: also where no
// quorum is left, without which none that is linearizable is answered.
func TestSerializableReadsNeedNoQuorum(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	client := cluster.Client(t, "", "")
	put(t, client, ownPrefix+"1", "v")
	// The member that stays has the key once it answers a linearizable read.
	d := connected(t, planFor(cluster.Endpoints[:1]))
	fast := connected(t, planFor(cluster.Endpoints[:1], func(p *plan.Plan) { p.Load.Transport = plan.TransportFast }))
	read := load.Request{Operation: results.OperationRange, Key: []byte(ownPrefix + "1"), Timeout: 5 * time.Second}
	do(t, connect(t, d, 0), read)
	overFast, err := fast.Connect(withTimeout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	cluster.Stop(1)
	cluster.Stop(2)
	for name, tc := range map[string]struct {
		conn   load.Conn
		change func(*load.Request)
	}{
		"whole":      {connect(t, d, 1), func(*load.Request) {}},
		"in pages":   {connect(t, d, 1), func(r *load.Request) { r.PageKeys, r.End = 1, []byte(ownPrefix+"2") }},
		"a stream":   {connect(t, d, 1), func(r *load.Request) { r.Stream, r.End = true, []byte(ownPrefix+"2") }},
		"over Fast":  {overFast, func(*load.Request) {}},
		"keys alone": {connect(t, d, 1), func(r *load.Request) { r.KeysOnly = true }},
	} {
		t.Run(name, func(t *testing.T) {
			serializable, linearizable := read, read
			serializable.Serializable, linearizable.Timeout = true, 300*time.Millisecond
			tc.change(&serializable)
			tc.change(&linearizable)
			do(t, tc.conn, serializable)
			var response load.Response
			if tc.conn.Do(t.Context(), &linearizable, &response); response.Succeeded() {
				t.Error("a linearizable read succeeded without a quorum")
			}
		})
	}
}

// A read that covers keys which are not there is no success, and neither is
// the deletion of one.
func TestMissingKeysAreFailures(t *testing.T) {
	cluster, client := oneMember(t)
	for _, key := range []string{"k1", "k2", "k3"} {
		put(t, client, key, "v")
	}
	read := load.Request{Operation: results.OperationRange, Key: []byte("k1"), End: []byte("k9"), Timeout: 5 * time.Second}
	steps := []struct {
		change func(*load.Request)
		code   string
	}{
		{func(r *load.Request) { r.Keys = 3 }, ""},
		{func(r *load.Request) { r.Keys, r.Limit = 3, 1 }, ""},
		{func(r *load.Request) { r.Keys, r.CountOnly = 3, true }, ""},
		{func(r *load.Request) { r.Keys = 4 }, load.CodeNotFound},
		{func(r *load.Request) { r.Keys, r.KeysOnly, r.Serializable = 4, true, true }, load.CodeNotFound},
		{func(r *load.Request) { r.Operation = results.OperationDelete }, ""},
		{func(r *load.Request) { r.Operation = results.OperationDelete }, load.CodeNotFound},
	}
	overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
		put(t, client, "k1", "v")
		d := connected(t, planFor(cluster.Endpoints, transport))
		c, err := d.Connect(withTimeout(t), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range steps {
			request, response := read, load.Response{}
			step.change(&request)
			if c.Do(t.Context(), &request, &response); response.Code != step.code {
				t.Errorf("step %d: got code %q (%s), wanted %q", i, response.Code, response.Detail, step.code)
			}
		}
		if left := keysUnder(t, client, "k"); len(left) != 2 {
			t.Errorf("%v are left, wanted k2 and k3: only one key was to be deleted", left)
		}
	})
}

// Deletions delete the keys that the seed gives, each once, and leave the
// others to the cleaning.
func TestDeletionsReachTheStore(t *testing.T) {
	cluster, client := oneMember(t)
	for _, order := range []plan.KeyOrder{plan.KeyOrderSequential, plan.KeyOrderUniform} {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				p.Pods, p.Workload.Type, p.Workload.KeyCount, p.Load.Requests = 2, plan.WorkloadDelete, 1_000, 700
				p.Workload.KeyOrder = order
			})
			before := handled(t, cluster)
			snapshots, changes := changesOf(t, client, p)
			after := handled(t, cluster)
			w := workload.New(p)
			want, got := map[string]int{}, map[string]int{}
			for n := range p.Load.Requests {
				want[strings.TrimPrefix(string(w.AppendKey(nil, w.At(workload.Measured, n).Key)), p.Prefix)]++
			}
			for _, c := range changes[1_000 : 1_000+p.Load.Requests] {
				if c.deleted {
					got[c.key]++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(changes) != 2_000 {
				t.Errorf("%s: %d changes of the store, deletions by key (-want +got):\n%s", order, len(changes), diff)
			}
			sent, measured := account(snapshots)
			if served := after[results.RPCDeleteRange] - before[results.RPCDeleteRange]; served != 700 || measured != 700 || sent[results.RPCDeleteRange] != 700 || successes(snapshots) != 700 {
				t.Errorf("%s: etcd served %d deletions, %d were measured and %d succeeded, wanted 700", order, served, measured, successes(snapshots))
			}
		})
	}
}
