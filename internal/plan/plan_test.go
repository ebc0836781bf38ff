package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// someKeys and someValues are the keys and values of valid.
var (
	someKeys   = spec.Keys{Count: 100_000, SizeBytes: 8, Distribution: spec.Sequential}
	someValues = spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256}
)

func valid() Plan {
	return Plan{
		Version: Version, RunUID: "0b6c6b52-0000-4000-8000-000000000000", Name: "etcd/write", TimeoutSeconds: 600,
		Target: Target{Datastore: spec.Etcd, Endpoints: []string{"etcd-0.etcd:2379", "[::1]:2379"}, Members: spec.MembersAll},
		Run: workload.Run{
			Prefix:   "etcdbench/0b6c6b52/",
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: someKeys, Values: someValues}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 3, Connections: 100, Clients: 1000, Requests: new(int64(100_000)),
				RequestTimeoutSeconds: 10, Seed: 1,
			},
		},
	}
}

// of is a valid plan of a workload. leases is true if the workload needs leases.
func of(w spec.Workload, leases bool) Plan {
	p := valid()
	if p.Workload = w; leases {
		p.FirstLease = 5 * workload.LeaseIDs
	}
	return p
}

// requireReturn encodes a plan, checks that Decode returns the same plan, and returns it.
func requireReturn(t *testing.T, want Plan) Plan {
	t.Helper()
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, the decoded plan differs (-want +got):\n%s", err, diff)
	}
	return got
}

// preloadsKeys reports whether each key is written before the load.
func preloadsKeys(p Plan) bool {
	n := workload.New(p.Run).PreloadCount()
	return n > 0 && n == p.Keys().Count
}

func TestDecodeReturnsWhatEncodeWrote(t *testing.T) { requireReturn(t, valid()) }

// Operator and client pod must compute the same digest.
func TestDigest(t *testing.T) {
	if got := Digest([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("the digest is %s, wanted the SHA-256", got)
	}
}

func TestDecodeReturnsATransaction(t *testing.T) {
	for name, txn := range map[string]spec.Txn{
		"puts":             {Mode: spec.TxnPuts, PutsPerTransaction: new(int32(128))},
		"overwriting puts": {Mode: spec.TxnPuts, PutsPerTransaction: new(int32(128)), Overwrite: true},
		"compare-and-swap": {Mode: spec.TxnCompareAndSwap},
	} {
		t.Run(name, func(t *testing.T) {
			txn.Keys, txn.Values = someKeys, someValues
			got := requireReturn(t, of(spec.Workload{Type: spec.WorkloadTxn, Txn: &txn}, false))
			if preloadsKeys(got) != (name != "puts") {
				t.Errorf("preloads keys: %v", preloadsKeys(got))
			}
		})
	}
}

func TestDecodeReturnsSTM(t *testing.T) {
	for name, tc := range map[string]struct {
		stm    spec.STM
		leases int64
	}{
		"without locks":           {spec.STM{Isolation: spec.IsolationSerializable, KeysPerTransaction: 128, WritePercent: 100, Locker: spec.LockerNone}, 0},
		"as many comparisons":     {spec.STM{Isolation: spec.IsolationSerializableSnapshot, KeysPerTransaction: 64, WritePercent: 100, Locker: spec.LockerNone}, 0},
		"with a mutex":            {spec.STM{Isolation: spec.IsolationRepeatableReads, KeysPerTransaction: 1, Locker: spec.LockerClient}, 1000},
		"with the lock service":   {spec.STM{Isolation: spec.IsolationReadCommitted, KeysPerTransaction: 3, WritePercent: 50, Locker: spec.LockerRPC}, 1000},
		"few writes of many keys": {spec.STM{Isolation: spec.IsolationSerializableSnapshot, KeysPerTransaction: 127, Locker: spec.LockerNone}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tc.stm.Keys, tc.stm.Values = someKeys, someValues
			got := requireReturn(t, of(spec.Workload{Type: spec.WorkloadSTM, STM: &tc.stm}, tc.leases > 0))
			if !preloadsKeys(got) || got.LeaseCount() != tc.leases || got.UsesLeases() != (tc.leases > 0) {
				t.Errorf("preloads keys: %v, %d leases, wanted the keys and %d", preloadsKeys(got), got.LeaseCount(), tc.leases)
			}
		})
	}
}

func TestDecodeReturnsAContest(t *testing.T) {
	for _, w := range []spec.Workload{
		{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 1000, HoldMilliseconds: 20}},
		{Type: spec.WorkloadElection, Election: &spec.Election{Names: 1000, LeadMilliseconds: 20}},
	} {
		t.Run(string(w.Type), func(t *testing.T) {
			got := requireReturn(t, of(w, true))
			if preloadsKeys(got) || got.LeaseCount() != 1000 || !got.UsesSessions() || got.DrainLimit() != 20*time.Second+20*time.Millisecond {
				t.Errorf("preloads keys: %v, %d leases, drains for %v", preloadsKeys(got), got.LeaseCount(), got.DrainLimit())
			}
			// A page takes 36 entries of 36 bytes.
			if estimate, known := got.WriteEstimate(); !known || len(got.ContestKey(0)) != 36 || estimate != 200_000*4096/36 {
				t.Errorf("%d bytes (known: %v) are expected of 100,000 keys that are written and deleted", estimate, known)
			}
		})
	}
}

func TestDecodeReturnsALease(t *testing.T) {
	for name, l := range map[string]spec.Lease{
		"grant": {Operation: spec.LeaseGrant}, "revoke": {Operation: spec.LeaseRevoke},
		"renewals once":         {Operation: spec.LeaseKeepAlive, KeepAlive: &spec.KeepAlive{Leases: 1, Mode: spec.KeepAliveOnce}},
		"renewals over streams": {Operation: spec.LeaseKeepAlive, KeepAlive: &spec.KeepAlive{Leases: spec.MaxLeases, Mode: spec.KeepAliveStream}},
	} {
		t.Run(name, func(t *testing.T) {
			l.TTLSeconds = 60
			requireReturn(t, of(spec.Workload{Type: spec.WorkloadLease, Lease: &l}, true))
		})
	}
}

func TestDecodeReturnsAWatch(t *testing.T) {
	got := requireReturn(t, of(spec.Workload{Type: spec.WorkloadWatch, Watch: &spec.Watch{
		Streams: 4, WatchersPerStream: 5, Scope: spec.WatchScopeAllKeys, PrevKV: true, Connections: 4, Keys: someKeys, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 16},
	}}, false))
	if !preloadsKeys(got) {
		t.Error("the keys are not preloaded, so events would have no previous value")
	}
}

func TestDecodeReturnsAWatchGet(t *testing.T) {
	got := requireReturn(t, of(spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{
		Streams: 4, WatchersPerStream: 5, Events: 8, Connections: 3, Keys: someKeys, Values: someValues,
	}}, false))
	if got.Consistency() != spec.Serializable {
		t.Errorf("reads are %s, wanted those of the contacted member", got.Consistency())
	}
}

func TestDecodeReturnsACluster(t *testing.T) {
	want := of(spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Profile: spec.ClusterSmall}}, true)
	want.Load.Connections, want.Load.Clients = 3, 30
	got := requireReturn(t, want)
	if !got.OwnsLease(5 * workload.LeaseIDs) {
		t.Error("it does not own its lease")
	}
	// Of 373 requests, 300 renew leases, five to a page, and 60 write something greater.
	if bytes, known := got.WriteEstimate(); !known || bytes < 100_000*4096/5 || bytes > 100_000*4096 {
		t.Errorf("%d bytes are expected to be written (known: %v)", bytes, known)
	}
}

func TestDecodeRefuses(t *testing.T) {
	encoded, err := valid().Encode()
	if err != nil {
		t.Fatal(err)
	}
	text, version := string(encoded), func(n int) string { return fmt.Sprintf(`"version": %d`, n) }
	tests := map[string]string{
		"nothing":                   "",
		"an unknown field":          strings.Replace(text, `"runUID"`, `"fleet": 1, "runUID"`, 1),
		"an unknown field of parts": strings.Replace(text, `"pods"`, `"fleet": 1, "pods"`, 1),
		"a second document":         text + "{}",
		"a bracket after it":        text + "]",
		"a brace after it":          text + "}",
		"another version":           strings.Replace(text, version(Version), version(Version+1), 1),
		"the version before":        strings.Replace(text, version(Version), version(Version-1), 1),
		"an unknown workload":       strings.Replace(text, `"Put"`, `"Shout"`, 1),
		"settings of another type":  strings.Replace(text, `"Put"`, `"Watch"`, 1),
		"no slash at the end":       strings.Replace(text, `0b6c6b52/"`, `0b6c6b52"`, 1),
		"an address only":           strings.Replace(text, `etcd-0.etcd:2379`, `etcd-0.etcd`, 1),
		"a port out of range":       strings.Replace(text, `etcd-0.etcd:2379`, `etcd-0.etcd:65536`, 1),
		"more than a document":      text + strings.Repeat(" ", MaxBytes),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode([]byte(data)); err == nil {
				t.Error("decoded without an error")
			}
		})
	}
}
