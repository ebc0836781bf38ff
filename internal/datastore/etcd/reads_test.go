package etcd

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// answered returns how many bytes etcd reports to have sent to its clients.
func answered(t *testing.T, cluster *etcdtest.Cluster) float64 {
	t.Helper()
	return metricsOf(t, cluster)["etcd_network_client_grpc_sent_bytes_total"].GetMetric()[0].GetCounter().GetValue()
}

// rangePlan is a plan of reads of twenty keys of 1,000 bytes.
func rangePlan(r spec.Range) func(*plan.Plan) {
	r.Keys, r.Values = keySpace(20, spec.Uniform), spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 1_000}
	return func(p *plan.Plan) { p.Workload = spec.Workload{Type: spec.WorkloadRange, Range: &r} }
}

// The bytes that etcd sends for each request are those that the plan asks for: ten keys of 1,000 bytes, some of them,
// no values, or no keys.
func TestReadsReturnWhatIsAskedFor(t *testing.T) {
	cluster, _ := oneMember(t)
	tests := map[string]struct {
		read        spec.Range
		least, most float64
	}{
		"one key":   {spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 1}, 1_000, 1_200},
		"ten keys":  {spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 10}, 10_000, 11_200},
		"a page":    {spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 10, Limit: new(int64(2))}, 2_000, 2_400},
		"keys only": {spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 10, KeysOnly: true}, 300, 700},
		"a count":   {spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 10, CountOnly: true}, 10, 150},
	}
	for name, tc := range tests {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, rangePlan(tc.read))
			before := answered(t, cluster)
			snapshots := runAll(t, p)
			each := (answered(t, cluster) - before) / float64(*p.Load.Requests)
			if n := successes(snapshots); n != uint64(*p.Load.Requests) || each < tc.least || each > tc.most {
				t.Errorf("%s: %d of %d succeeded, %.0f bytes each, wanted %.0f to %.0f", name, n, *p.Load.Requests, each, tc.least, tc.most)
			}
		})
	}
}

// Serializable reads are answered by the contacted member alone, even without a quorum. Linearizable reads need one.
func TestSerializableReadsNeedNoQuorum(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	client := cluster.Client(t, "", "")
	put(t, client, ownPrefix+"1", "v")
	opened := func(changes ...func(*plan.Plan)) load.Conn {
		return connectionOf(t, planFor(cluster.Endpoints[:1], changes...))
	}
	read := load.Request{Operation: spec.OperationRange, Key: []byte(ownPrefix + "1"), Needs: 1, Timeout: 5 * time.Second}
	whole, end := opened(), []byte(ownPrefix+"2")
	tests := map[string]struct {
		conn load.Conn
		end  []byte
	}{
		"whole":      {whole, nil},
		"in pages":   {opened(rangePlan(inPages(1))), end},
		"a stream":   {opened(rangePlan(inAStream)), end},
		"over Fast":  {opened(over(spec.TransportFast)), nil},
		"over JSON":  {opened(over(spec.TransportJSON)), nil},
		"keys alone": {opened(rangePlan(spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, KeysPerRequest: 1, KeysOnly: true})), nil},
	}
	// The remaining member has the key once it answers a linearizable read.
	do(t, whole, read)
	cluster.Stop(1)
	cluster.Stop(2)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			read.End = tc.end
			serializable, linearizable := read, read
			serializable.Consistency, linearizable.Timeout = spec.Serializable, 300*time.Millisecond
			do(t, tc.conn, serializable)
			var response load.Response
			if tc.conn.Do(t.Context(), &linearizable, &response); response.Succeeded() {
				t.Error("a linearizable read succeeded without a quorum")
			}
		})
	}
}

// A read or a deletion of missing keys fails.
func TestMissingKeysAreFailures(t *testing.T) {
	cluster, client := oneMember(t)
	for _, key := range []string{"k1", "k2", "k3"} {
		put(t, client, key, "v")
	}
	steps := []struct {
		read      spec.Range
		operation spec.Operation
		needs     int64
		code      string
	}{
		{spec.Range{}, spec.OperationRange, 3, ""},
		{spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, Limit: new(int64(1))}, spec.OperationRange, 3, ""},
		{spec.Range{Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole, CountOnly: true}, spec.OperationRange, 3, ""},
		{spec.Range{}, spec.OperationRange, 4, load.CodeNotFound},
		{spec.Range{Delivery: spec.DeliveryWhole, KeysOnly: true, Consistency: spec.Serializable}, spec.OperationRange, 4, load.CodeNotFound},
		{spec.Range{}, spec.OperationDelete, 1, ""},
		{spec.Range{}, spec.OperationDelete, 1, load.CodeNotFound},
	}
	overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
		put(t, client, "k1", "v")
		for i, step := range steps {
			c := connectionOf(t, planFor(cluster.Endpoints, transport, rangePlan(step.read)))
			request := load.Request{
				Operation: step.operation, Key: []byte("k1"), End: []byte("k9"), Needs: step.needs, Consistency: step.read.Consistency, Timeout: 5 * time.Second,
			}
			var response load.Response
			if c.Do(t.Context(), &request, &response); response.Code != step.code {
				t.Errorf("step %d: got code %q (%s), wanted %q", i, response.Code, response.Detail, step.code)
			}
		}
		if left := keysUnder(t, client, "k"); len(left) != 2 {
			t.Errorf("%v are left, wanted k2 and k3: only one key was to be deleted", left)
		}
	})
}

// Deletions delete the keys that the seed gives, each once, and leave the others to the sweep.
func TestDeletionsReachTheStore(t *testing.T) {
	cluster, client := oneMember(t)
	for _, order := range []spec.Distribution{spec.Sequential, spec.Uniform} {
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, transport, func(p *plan.Plan) {
				p.Load.Pods, p.Load.Requests = 2, new(int64(700))
				p.Workload = spec.Workload{Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: keySpace(1_000, order), Values: smallValues}}
			})
			before := handled(t, cluster)
			snapshots, changes := changesOf(t, client, p)
			after := handled(t, cluster)
			w := workload.New(p.Run)
			want, got := map[string]int{}, map[string]int{}
			for n := range *p.Load.Requests {
				want[strings.TrimPrefix(string(w.AppendKey(nil, w.At(workload.Measured, n).Key)), p.Prefix)]++
			}
			for _, c := range changes[1_000 : 1_000+*p.Load.Requests] {
				if c.deleted {
					got[c.key]++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || len(changes) != 2_000 {
				t.Errorf("%s: %d changes of the store, deletions by key (-want +got):\n%s", order, len(changes), diff)
			}
			sent, measured := account(snapshots)
			if served := after[spec.RPCDeleteRange] - before[spec.RPCDeleteRange]; served != 700 || measured != 700 || sent[spec.RPCDeleteRange] != 700 || successes(snapshots) != 700 {
				t.Errorf("%s: etcd served %d deletions, %d were measured and %d succeeded, wanted 700", order, served, measured, successes(snapshots))
			}
		})
	}
}
