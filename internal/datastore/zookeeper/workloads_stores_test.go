//go:build stores

package zookeeper

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var (
	someKeys   = spec.Keys{Count: 500, SizeBytes: 8, Distribution: spec.Uniform}
	inOrder    = spec.Keys{Count: 5_000, SizeBytes: 8, Distribution: spec.Sequential}
	someValues = spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64}
)

// works has a workload of each kind that the driver knows.
var works = map[string]spec.Workload{
	"new keys":                 {Type: spec.WorkloadPut, Put: &spec.Put{Keys: inOrder, Values: someValues}},
	"old keys":                 {Type: spec.WorkloadPut, Put: &spec.Put{Overwrite: true, Keys: someKeys, Values: someValues}},
	"reads":                    {Type: spec.WorkloadRange, Range: &spec.Range{Consistency: spec.Serializable, Delivery: spec.DeliveryWhole, Keys: someKeys, Values: someValues}},
	"synced reads":             {Type: spec.WorkloadRange, Range: &spec.Range{Consistency: spec.SyncRead, Delivery: spec.DeliveryWhole, Keys: someKeys, Values: someValues}},
	"a mixture":                {Type: spec.WorkloadMixed, Mixed: &spec.Mixed{ReadPercent: 50, Consistency: spec.SyncRead, Keys: someKeys, Values: someValues}},
	"deletions":                {Type: spec.WorkloadDelete, Delete: &spec.Delete{Keys: inOrder, Values: someValues}},
	"transactions of new keys": {Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: new(int32(4)), Keys: inOrder, Values: someValues}},
	"transactions of old keys": {Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnPuts, PutsPerTransaction: new(int32(4)), Overwrite: true, Keys: someKeys, Values: someValues}},
	"swaps":                    {Type: spec.WorkloadTxn, Txn: &spec.Txn{Mode: spec.TxnCompareAndSwap, Keys: spec.Keys{Count: 2, SizeBytes: 8, Distribution: spec.Uniform}, Values: someValues}},
}

// doing returns a change of a plan to a workload with 1,000 requests.
func doing(w spec.Workload) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Workload, p.Load.Requests = w, new(int64(1_000))
		p.Load.Pods, p.Load.Connections, p.Load.Clients = 2, 4, 12
	}
}

// readsOf returns how many reads and syncs a server counts. It counts pings, too.
func readsOf(t *testing.T, s *zookeepertest.Server) uint64 {
	t.Helper()
	response, err := http.Get(s.Admin("monitor"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var found struct {
		Reads uint64 `json:"cnt_readlatency"`
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found.Reads
}

// The server counts the same changes and reads as the pods, and no request fails. Afterwards nothing is left.
func TestWorkloadsSendWhatTheyAreNamedFor(t *testing.T) {
	t.Parallel()
	const n = 1_000
	server := zookeepertest.Start(t, 1)[0]
	_, empty := counted(t, server)
	for name, want := range map[string]map[spec.RPC]uint64{
		"new keys":                 {spec.RPCCreate: n},
		"old keys":                 {spec.RPCSetData: n},
		"reads":                    {spec.RPCGetData: n},
		"synced reads":             {spec.RPCSync: n, spec.RPCGetData: n},
		"a mixture":                nil,
		"deletions":                {spec.RPCDelete: n},
		"transactions of new keys": {spec.RPCMulti: n},
		"transactions of old keys": {spec.RPCMulti: n},
		"swaps":                    {spec.RPCGetData: n, spec.RPCSetData: n},
	} {
		t.Run(name, func(t *testing.T) {
			updates, _ := counted(t, server)
			reads := readsOf(t, server)
			snapshots := run(t, planFor([]string{server.Endpoint()}, doing(works[name])))
			sent, _ := requests(snapshots...)
			measured, lost := map[spec.RPC]uint64{}, uint64(0)
			for _, s := range snapshots {
				for rpc, phases := range s.Requests {
					if count := phases[results.PhaseMeasured]; count > 0 {
						measured[rpc] += count
					}
				}
				if s.Cleaning != results.CleaningKeysDeleted {
					t.Errorf("pod %d ends with %s", s.Index, s.Cleaning)
				}
				for _, o := range s.Operations {
					lost += o.Lost
				}
			}
			if name == "a mixture" {
				reads := measured[spec.RPCGetData]
				want = map[spec.RPC]uint64{spec.RPCSync: reads, spec.RPCGetData: reads, spec.RPCSetData: n - reads}
			}
			if !maps.Equal(measured, want) {
				t.Errorf("sent %v, wanted %v", measured, want)
			}
			if succeeded, failed := ended(snapshots...); succeeded != n || failed != 0 || (lost > 0) != (name == "swaps") {
				t.Errorf("%d succeeded, of which %d were lost, and %d failed", succeeded, lost, failed)
			}
			changes, looks := uint64(0), uint64(0)
			for _, rpc := range []spec.RPC{spec.RPCCreate, spec.RPCSetData, spec.RPCDelete, spec.RPCMulti, spec.RPCCreateSession, spec.RPCCloseSession} {
				changes += sent[rpc]
			}
			for _, rpc := range []spec.RPC{spec.RPCGetData, spec.RPCSync, spec.RPCExists, spec.RPCGetChildren} {
				looks += sent[rpc]
			}
			updatesNow, nodes := counted(t, server)
			if updatesNow-updates != changes {
				t.Errorf("the server counts %d changes, the pods %d: %v", updatesNow-updates, changes, sent)
			}
			const pings = 50
			if found := readsOf(t, server) - reads; found < looks || found > looks+pings {
				t.Errorf("the server counts %d reads, the pods %d: %v", found, looks, sent)
			}
			if nodes != empty+outerNodes {
				t.Errorf("wanted %d znodes, found %d", empty+outerNodes, nodes)
			}
		})
	}
}

// connected returns a connection of a run that has claimed its prefix, and a function that sends a request over it.
func connected(t *testing.T, p plan.Plan) (c *conn, do func(*load.Request) load.Response) {
	t.Helper()
	d := driverOf(t, p, 0)
	if err := d.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	opened, err := d.Connect(bounded(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	return opened.(*conn), func(r *load.Request) (resp load.Response) {
		r.Timeout = 10 * time.Second
		opened.Do(bounded(t), r, &resp)
		return resp
	}
}

// A put of a new key fails if the key exists, and one that overwrites fails if it does not. A transaction happens as a whole.
func TestPutsOfNewAndOldKeys(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	for name, w := range map[string]string{"new": "new keys", "old": "old keys"} {
		t.Run(name, func(t *testing.T) {
			p := planFor([]string{server.Endpoint()}, doing(works[w]), func(p *plan.Plan) { p.Load.Pods = 1; p.Prefix += name + "/" })
			c, do := connected(t, p)
			keys := p.KeyWriter()
			key := func(n int64) []byte { return keys.AppendKey(nil, n) }
			put := func(n int64, value string, preload bool) string {
				resp := do(&load.Request{Operation: spec.OperationPut, Key: key(n), Value: []byte(value), Preload: preload})
				return resp.Code
			}
			txn := func(value string, numbers ...int64) string {
				r := load.Request{Operation: spec.OperationTxn}
				for _, n := range numbers {
					r.Pairs = append(r.Pairs, load.Pair{Key: key(n), Value: []byte(value)})
				}
				return do(&r).Code
			}
			codes := []string{
				put(1, "preloaded", true), put(1, "again", true), put(1, "second", false), put(2, "first", false), txn("txn", 2, 3), txn("txn", 1, 4), txn("last", 3, 4),
			}
			want, content := []string{"", "", "AlreadyExists", "", "AlreadyExists", "AlreadyExists", ""}, []string{"preloaded", "first", "last", "last"}
			if c.preloaded {
				want, content = []string{"", "", "", load.CodeNotFound, load.CodeNotFound, load.CodeNotFound, load.CodeNotFound}, []string{"second", "", "", ""}
			}
			if !slices.Equal(codes, want) {
				t.Errorf("wanted %q, found %q", want, codes)
			}
			for i, want := range content {
				if data, _, err := client.Get(c.tree.path(key(int64(i + 1)))); string(data) != want || (err == zk.ErrNoNode) != (want == "") {
					t.Errorf("key %d has %q, wanted %q: %v", i+1, data, want, err)
				}
			}
		})
	}
}

// The sync of a read is sent before its getData, also if many clients share the session.
func TestASyncIsSentBeforeItsRead(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	const clients, reads = 20, 10
	recorded := &recorder{upstream: server.Endpoint()}
	p := planFor([]string{recorded.serve(t)}, doing(works["synced reads"]), func(p *plan.Plan) { p.Load.Pods = 1 })
	c, do := connected(t, p)
	key := func(n int) []byte { return fmt.Appendf(nil, "%s%08d", ownPrefix, n) }
	read := func(n int) load.Response {
		return do(&load.Request{Operation: spec.OperationRange, Key: key(n), Consistency: spec.SyncRead, Needs: 1})
	}
	if resp := read(clients * reads); resp.Code != load.CodeNotFound || resp.Detail != "the key does not exist" {
		t.Errorf("wanted a missing key, found %+v", resp)
	}
	for n := range clients * reads {
		if resp := do(&load.Request{Operation: spec.OperationPut, Key: key(n), Value: []byte("a"), Preload: true}); resp.Code != "" {
			t.Fatal(resp.Detail)
		}
	}
	var reading sync.WaitGroup
	for client := range clients {
		reading.Go(func() {
			for n := range reads {
				if resp := read(client*reads + n); resp.Code != "" {
					t.Error(resp.Detail)
				}
			}
		})
	}
	reading.Wait()
	for n := range clients * reads {
		path := c.tree.path(key(n))
		if got := recorded.codes(path); !slices.Equal(got, []spec.RPC{spec.RPCSync, spec.RPCGetData}) {
			t.Errorf("%s: sent %v", path, got)
		}
	}
}

// recorder is a proxy that keeps what clients send.
type recorder struct {
	upstream string
	mutex    sync.Mutex
	sent     []*bytes.Buffer
}

func (r *recorder) serve(t *testing.T) string {
	t.Helper()
	return proxy(t, r.upstream, func(server, client net.Conn) (requests, responses io.Writer) {
		sent := &bytes.Buffer{}
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.sent = append(r.sent, sent)
		return io.MultiWriter(server, locked{&r.mutex, sent}), client
	})
}

// proxy serves until the test ends, and returns the address. over returns where the bytes of a connection go. An error there ends
// the connection.
func proxy(t *testing.T, upstream string, over func(server, client net.Conn) (requests, responses io.Writer)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", upstream)
			if err != nil {
				t.Error(err)
				return
			}
			requests, responses := over(server, client)
			serving.Go(func() { _, _ = io.Copy(requests, client); server.Close() })
			serving.Go(func() { _, _ = io.Copy(responses, server); client.Close() })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}

type locked struct {
	mutex *sync.Mutex
	io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.Writer.Write(b)
}

// codes returns the reads and syncs of a path, in their order.
func (r *recorder) codes(path string) (all []spec.RPC) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, sent := range r.sent {
		for rest := sent.Bytes(); len(rest) > lengthBytes; {
			frame := rest[:lengthBytes+int(binary.BigEndian.Uint32(rest))]
			rpc := rpcs[int32(binary.BigEndian.Uint32(frame[codeAt:codeEnd]))]
			if bytes.Contains(frame, []byte(path)) && (rpc == spec.RPCSync || rpc == spec.RPCGetData) {
				all = append(all, rpc)
			}
			rest = rest[len(frame):]
		}
	}
	return all
}
