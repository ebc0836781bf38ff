package etcd

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// fetching is a burst of processes with a connection each, which read 12 parameters of 50 bytes. Its keys stay.
func fetching(f spec.Fetch, processes int32) func(*plan.Plan) {
	return func(p *plan.Plan) {
		f.ParametersPerProcess, f.ParameterBytes, f.Consistency, f.Attempts = 12, 50, spec.Serializable, 100
		p.Workload, p.Ephemeral = spec.Workload{Type: spec.WorkloadFetch, Fetch: &f}, true
		p.Load.Connections, p.Load.Clients, p.Load.Requests = processes, processes, new(int64(processes))
	}
}

// as makes a run one with a prefix of its own.
func as(name string) func(*plan.Plan) {
	return func(p *plan.Plan) { p.RunUID, p.Prefix = name, "etcdbench/"+name+"/" }
}

// Each process reads all its parameters, over every transport and in every layout. Its requests are those that etcd has
// counted, and its bodies have the length of etcd's responses.
func TestProcessesFetchTheirParameters(t *testing.T) {
	cluster, client := oneMember(t)
	const processes = 40
	for i, fetch := range []spec.Fetch{
		{Layout: spec.LayoutFragmented, Connect: spec.ConnectBefore, Parameters: spec.ParametersShared},
		{Layout: spec.LayoutFragmented, Connect: spec.ConnectAtStart, Parameters: spec.ParametersOwn},
		{Layout: spec.LayoutBlob, Connect: spec.ConnectAtStart, Parameters: spec.ParametersShared},
		{Layout: spec.LayoutFlat, Connect: spec.ConnectBefore, Parameters: spec.ParametersOwn, RampSeconds: 1},
		{Layout: spec.LayoutTree, Connect: spec.ConnectAtStart, Parameters: spec.ParametersShared},
	} {
		fetch.TimeoutMilliseconds = 20_000
		overAll(t, func(t *testing.T, transport func(*plan.Plan)) {
			p := planFor(cluster.Endpoints, fetching(fetch, processes), func(p *plan.Plan) { p.Load.Pods = 3 }, transport)
			as(fmt.Sprint(p.Load.Transport, i))(&p)
			before := handled(t, cluster)
			snapshots := runAll(t, p)
			after := handled(t, cluster)
			merged := results.Merge(snapshots)
			got := merged.Operations[spec.OperationFetch]
			if got.Latency.Count() != processes || got.Service.Count() != processes || merged.Burst.Timeouts[0] != processes || merged.Burst.Tasks() != processes {
				t.Fatalf("%d of %d processes succeeded: %v, %+v", got.Latency.Count(), processes, got.Errors, merged.Burst)
			}
			if most, ramp := longestOf(&got.Latency), time.Duration(fetch.RampSeconds)*time.Second; most <= 0 || merged.Window.LastResponse.Sub(merged.Window.Start) < ramp*9/10 {
				t.Errorf("the last of the processes took %v, and all ended %v after the start", most, merged.Window.LastResponse.Sub(merged.Window.Start))
			}
			accounted, measured := account(snapshots)
			for _, rpc := range []spec.RPC{spec.RPCPut, spec.RPCRange, spec.RPCTxn} {
				if served := after[rpc] - before[rpc]; accounted[rpc] != served {
					t.Errorf("%s: etcd served %d, the snapshots account for %d", rpc, served, accounted[rpc])
				}
			}
			requests, bodies := wantedReads(t, cluster, client, p)
			if measured != requests || merged.Bodies.Received != bodies || merged.Burst.Values != processes*12*50 {
				t.Errorf("%d requests with bodies of %d bytes and values of %d, wanted %d, %d and %d", measured, merged.Bodies.Received, merged.Burst.Values, requests, bodies, processes*12*50)
			}
			if wire := merged.Burst.Wire; wire.Received <= merged.Bodies.Received || wire.Sent <= merged.Bodies.Sent || merged.Bodies.Sent == 0 {
				t.Errorf("%+v bytes on the wire, and %+v in bodies", wire, merged.Bodies)
			}
		})
	}
}

// Only connections of the load may take as long as all attempts of a burst: the others would hide that a member is lost.
func TestOnlyTheLoadOfABurstDialsPatiently(t *testing.T) {
	p := planFor([]string{"127.0.0.1:1"}, fetching(spec.Fetch{Layout: spec.LayoutFlat, Connect: spec.ConnectAtStart, TimeoutMilliseconds: 600_000}, 40))
	d := newDriver(t, p, 0)
	if load, control := d.redial(true).MinConnectTimeout, d.redial(false).MinConnectTimeout; load != 1000*time.Minute || control != dialTimeout {
		t.Errorf("connections of the load take up to %v, others %v", load, control)
	}
}

func longestOf(h *results.Histogram) time.Duration {
	v, _ := h.Quantile(1)
	return v
}

// wantedReads sends the reads of all processes again. It returns their number and the length of the responses.
func wantedReads(t *testing.T, cluster *etcdtest.Cluster, client *clientv3.Client, p plan.Plan) (requests, bodies uint64) {
	t.Helper()
	w := workload.New(p.Run)
	for n := range int64(p.Load.Clients) {
		for op, more := w.At(workload.Measured, n), true; more; op, _, more = w.Next(op, "") {
			key, end := w.AppendKey(nil, op.Key), []byte(nil)
			if op.Subject == workload.OnFolder {
				key, end = w.AppendFolder(nil, op.Key), w.AppendFolderEnd(nil, op.Key)
			}
			requests++
			bodies += uint64(lengthOfRead(t, cluster, client, p.Load.Transport.Multiplexed(), key, end))
		}
	}
	return requests, bodies
}

func lengthOfRead(t *testing.T, cluster *etcdtest.Cluster, client *clientv3.Client, isGRPC bool, key, end []byte) int {
	t.Helper()
	if isGRPC {
		options := []clientv3.OpOption{clientv3.WithSerializable()}
		if len(end) > 0 {
			options = append(options, clientv3.WithRange(string(end)))
		}
		got, err := client.Get(t.Context(), string(key), options...)
		if err != nil {
			t.Fatal(err)
		}
		return proto.Size((*etcdserverpb.RangeResponse)(got))
	}
	text := base64.StdEncoding.EncodeToString
	response, err := http.Post("http://"+cluster.Endpoints[0]+"/v3/kv/range", "application/json", bytes.NewBufferString(`{"serializable":true,"key":`+strconv.Quote(text(key))+`,"range_end":`+strconv.Quote(text(end))+`}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return len(body)
}
