package ephemeral

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// The lines are of etcd 3.4 and 3.7, ZooKeeper 3.8 and Consul 1.10.
func TestRemark(t *testing.T) {
	for _, tc := range []struct {
		store spec.Datastore
		line  string
		kind  spec.LogKind
		says  string
	}{
		{spec.Etcd, `{"level":"warn","ts":"2026-11-28T03:25:50.1Z","caller":"wal/wal.go:886","msg":"slow fdatasync","took":"1.4s","expected-duration":"1s"}`, spec.LogSlowFlush, "slow fdatasync: 1.4s (expected 1s)"},
		{spec.Etcd, `{"level":"warn","msg":"apply request took too long","took":"152ms","expected-duration":"100ms","prefix":"","request":"header:<ID:1> put:<key:\"secret\" value_size:5>","response":"size:4"}`, spec.LogSlowApply, "apply request took too long: 152ms (expected 100ms)"},
		{spec.Etcd, `{"level":"info","logger":"raft","msg":"raft.node: 8e9 elected leader 8e9 at term 2"}`, spec.LogElection, "raft.node: 8e9 elected leader 8e9 at term 2"},
		{spec.Etcd, `{"level":"info","msg":"saved snapshot to disk","snapshot-index":500}`, spec.LogSnapshot, "saved snapshot to disk"},
		{spec.Etcd, `{"level":"info","msg":"closed etcd server"}`, "", ""},
		{spec.Etcd, `{"level":"warn","msg":"slow fdatasync","took":1400}`, spec.LogSlowFlush, "slow fdatasync"},
		{spec.ZooKeeper, `2026-11-28 03:31:08,123 [SyncThread:0] WARN org.apache.zookeeper.server.persistence.FileTxnLog - fsync-ing the write ahead log in SyncThread:0 took 10ms which will adversely effect operation latency.`, spec.LogSlowFlush, "fsync-ing the write ahead log in SyncThread:0 took 10ms which will adversely effect operation latency."},
		{spec.ZooKeeper, `[Snapshot Thread] INFO org.apache.zookeeper.server.persistence.FileTxnSnapLog - Snapshotting: 0x100000299 to /d/snapshot.100000299`, spec.LogSnapshot, "Snapshotting: 0x100000299 to /d/snapshot.100000299"},
		{spec.ZooKeeper, `[QuorumPeer[myid=2]] INFO org.apache.zookeeper.server.quorum.QuorumPeer - LEADING`, spec.LogElection, "LEADING"},
		{spec.Consul, `2026-11-28T03:31:19.992Z [INFO]  agent.server.raft: snapshot complete up to: index=622`, spec.LogSnapshot, "snapshot complete up to: index=622"},
		{spec.Consul, `2026-11-28T03:31:19.992Z [WARN]  agent.server.raft: heartbeat timeout reached, starting election: last-leader=127.0.0.1:1`, spec.LogElection, "starting election: last-leader=127.0.0.1:1"},
		{spec.Consul, `{"level":"warn","msg":"slow fdatasync"}`, "", ""},
		{spec.Kine, `slow fdatasync`, "", ""},
	} {
		store, _ := Of(tc.store)
		if kind, says := store.Remark([]byte(tc.line)); kind != tc.kind || says != tc.says {
			t.Errorf("%s: found %s %q, wanted %s %q", tc.line, kind, says, tc.kind, tc.says)
		}
	}
	consul, _ := Of(spec.Consul)
	if _, says := consul.Remark([]byte("snapshot complete" + strings.Repeat("é", 500))); len(says) > longestRemark+len(" …") || !strings.HasSuffix(says, "é …") {
		t.Errorf("found %d bytes: %q", len(says), says)
	}
}
