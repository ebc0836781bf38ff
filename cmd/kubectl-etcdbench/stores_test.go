//go:build stores

package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
)

// The sample, with fewer connections, because all pods share one address here.
func TestTheSampleOfZooKeeperRuns(t *testing.T) {
	server := zookeepertest.Start(t, 1)[0]
	s := runSample(t, "etcdbenchmark_zookeeper.yaml", server.Endpoint(), "connections: 90", "connections: 30", "clients: 90", "clients: 30", "100000", "20000").Status.Summary
	if s == nil || len(s.Operations) != 1 || s.Operations[0].Succeeded != 20_000 || s.Operations[0].Failed != 0 {
		t.Errorf("wanted 20,000 puts, found %+v", s)
	}
	client := zookeepertest.Client(t, server.Endpoint())
	if left, _, err := client.Children("/etcdbench"); err != nil || len(left) > 0 {
		t.Errorf("wanted no node of the run, found %v, %v", left, err)
	}
}

// runSample runs a sample on an address, with replacements in its text. A busy machine can make the load generator the
// limit, and then the command ends with status 3.
func runSample(t *testing.T, name, endpoint string, replacements ...string) (run v1alpha1.EtcdBenchmark) {
	t.Helper()
	return runSampleWith(t, name, []string{"--endpoints", endpoint}, replacements...)
}

func runSampleWith(t *testing.T, name string, flags []string, replacements ...string) (run v1alpha1.EtcdBenchmark) {
	t.Helper()
	sample, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "advanced", name))
	if err != nil {
		t.Fatal(err)
	}
	manifest := strings.NewReplacer(replacements...).Replace(string(sample))
	cmd, _ := process(t, manifest, append([]string{"run", "--local", "-f", "-", "-o", "json"}, flags...)...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 3) {
		t.Fatalf("%v: %.2000s", err, out)
	}
	if err := json.Unmarshal(out, &run); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestTheSampleOfKineRuns(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	client := server.Client(t)
	run := runSample(t, "etcdbenchmark_kine.yaml", server.Endpoint)
	puts := uint64(0)
	for _, o := range run.Status.Summary.Operations {
		if o.Failed > 0 {
			t.Errorf("%s: %d failed", o.Operation, o.Failed)
		}
		if o.Operation == spec.OperationOptimisticPut {
			puts = uint64(o.Succeeded)
		}
	}
	if puts == 0 {
		t.Errorf("no put succeeded: %+v", run.Status.Summary.Operations)
	}
	left, err := client.Get(t.Context(), "etcdbench/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil || len(left.Kvs) > 0 {
		t.Errorf("wanted no key of the run, found %v, %v", left, err)
	}
}

// endlessNodes is a load that does not end.
const endlessNodes = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: endless}
spec:
  target: {datastore: ZooKeeper, service: {name: zookeeper}}
  workload: {type: Put, put: {keys: {count: 10000000}, values: {sizeBytes: 100}}}
  load: {connections: 2, clients: 2, requests: 10000000, rate: {perSecond: 500}, warmupSeconds: 0}
  timeoutSeconds: 36000
`

// The command that a run on ZooKeeper prints deletes the run's znodes and no others.
func TestTheCommandThatDeletesWhatIsLeftInZooKeeper(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	typeTheCommand(t, endlessNodes, server.Endpoint(), func() {
		if _, err := client.Create("/etcdbench/mine", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	})
	if left, _, err := client.Children("/etcdbench"); err != nil || !slices.Equal(left, []string{"mine"}) {
		t.Errorf("wanted the znode of others alone, found %v, %v", left, err)
	}
}

// The sample with fewer keys, on a Consul with ACLs: the token comes from a file.
func TestTheSampleOfConsulRuns(t *testing.T) {
	server := consultest.Start(t, 1, consultest.ACLs)[0]
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(consultest.Manager+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := runSampleWith(t, "etcdbenchmark_consul.yaml", []string{"--endpoints", server.Endpoint, "--token-file", token}, "100000", "10000").Status.Summary
	if s == nil || len(s.Operations) != 1 || s.Operations[0].Succeeded != 10_000 || s.Operations[0].Failed != 0 {
		t.Errorf("wanted 10,000 puts, found %+v", s)
	}
	if left := server.Keys(t, ""); len(left) > 0 {
		t.Errorf("wanted no key of the run, found %q", left)
	}
}

// The command that a run on Consul prints deletes the run's keys and no others.
func TestTheCommandThatDeletesWhatIsLeftInConsul(t *testing.T) {
	t.Parallel()
	server := consultest.Start(t, 1)[0]
	typeTheCommand(t, strings.Replace(endlessNodes, "ZooKeeper", "Consul", 1), server.Endpoint, func() {
		server.Ask(t, "PUT", "/v1/kv/etcdbench/mine", "x")
	})
	if left := server.Keys(t, ""); !slices.Equal(left, []string{"etcdbench/mine"}) {
		t.Errorf("wanted the key of others alone, found %q", left)
	}
}
