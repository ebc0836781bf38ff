//go:build stores

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
)

const ownMembers = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: members}
spec:
  target: {datastore: %s, ephemeral: {image: x, replicas: %d, settings: {%s}}}
  workload: {type: Put, put: {keys: {count: 1000, sizeBytes: 8, distribution: Sequential}, values: {sizeBytes: 1024}}}
  load: {requests: 1000, connections: 4, clients: 4}
`

// runOwn runs a manifest that describes members, with a program of bin/tools, to its end.
func runOwn(t *testing.T, manifest, program, dir string) (run v1alpha1.EtcdBenchmark) {
	t.Helper()
	program = filepath.Join("..", "..", "bin", "tools", program)
	cmd, _ := process(t, manifest, "run", "--local", "-f", "-", "-o", "json", "--data-dir", dir, "--member-binary", program)
	out, ended := cmd.Output()
	if err := json.Unmarshal(out, &run); err != nil {
		t.Fatalf("%v, %v", ended, err)
	}
	return run
}

// A run starts its own servers of ZooKeeper and Consul with the settings, measures their processes, reads their metrics, and leaves nothing.
func TestMembersOfZooKeeperAndConsul(t *testing.T) {
	for store, tc := range map[spec.Datastore]struct{ program, settings string }{
		spec.ZooKeeper: {"zkServer.sh", `maxClientCnxns: "8", jvmFlags: "-Xmx96m"`},
		spec.Consul:    {"consul", `performance.raft_multiplier: "1", limits.http_max_conns_per_client: "9"`},
	} {
		for _, members := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s %d", store, members), func(t *testing.T) {
				dir := t.TempDir()
				run := runOwn(t, fmt.Sprintf(ownMembers, store, members, tc.settings), tc.program, dir)
				s := run.Status.Summary
				if s == nil || len(s.Operations) != 1 || s.Operations[0].Succeeded != 1000 || len(s.Members) != members {
					t.Fatalf("wanted 1000 puts on %d members, found %+v", members, run.Status)
				}
				leaders := 0
				for i, m := range s.Members {
					if m.Unknown != "" || m.CPUMillicores == nil || *m.CPUMillicores == 0 || m.MemoryBytes == nil || *m.MemoryBytes < 10<<20 || m.StorageWrittenBytes == nil || *m.StorageWrittenBytes < 1000*1024 && !supervisor.IsInMemory(dir) {
						t.Errorf("wanted what the process of the member used, found %+v", m)
					}
					if m.LeaderChanges == nil || *m.LeaderChanges != 0 {
						t.Errorf("wanted what the member reports itself, found %+v", m)
					}
					if run.Status.Target.Members[i].Leader {
						leaders++
					}
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 || leaders != 1 {
					t.Errorf("found %d leaders, and left are %v, %v", leaders, left, err)
				}
			})
		}
	}
}

// The settings reach the members: the check of connections finds their limits.
func TestSettingsOfMembersOfZooKeeperAndConsul(t *testing.T) {
	for store, tc := range map[spec.Datastore]struct{ program, settings, want string }{
		spec.ZooKeeper: {"zkServer.sh", `maxClientCnxns: "5"`, "takes 5 connections from one address (maxClientCnxns)"},
		spec.Consul:    {"consul", `limits.http_max_conns_per_client: "5"`, "takes 5 connections from one address (limits.http_max_conns_per_client)"},
	} {
		run := runOwn(t, fmt.Sprintf(ownMembers, store, 1, tc.settings), tc.program, t.TempDir())
		if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); c == nil || !strings.Contains(c.Message, tc.want) {
			t.Errorf("wanted a message with %q, found %+v", tc.want, c)
		}
	}
}
