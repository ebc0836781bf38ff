//go:build stores

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
)

// The sample, with fewer connections, because all pods share one address here.
func TestTheSampleOfZooKeeperRuns(t *testing.T) {
	server := zookeepertest.Start(t, 1)[0]
	sample, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "etcdbenchmark_zookeeper.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := strings.NewReplacer("connections: 90", "connections: 30", "clients: 90", "clients: 30", "100000", "20000").Replace(string(sample))
	cmd, _ := process(t, manifest, "run", "--local", "--endpoints", server.Endpoint(), "-f", "-", "-o", "json")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var run v1alpha1.EtcdBenchmark
	if err := json.Unmarshal(out, &run); err != nil {
		t.Fatal(err)
	}
	s := run.Status.Summary
	if s == nil || len(s.Operations) != 1 || s.Operations[0].Succeeded != 20_000 || s.Operations[0].Failed != 0 {
		t.Errorf("wanted 20,000 puts, found %+v", s)
	}
	client := zookeepertest.Client(t, server.Endpoint())
	if left, _, err := client.Children("/etcdbench"); err != nil || len(left) > 0 {
		t.Errorf("wanted no node of the run, found %v, %v", left, err)
	}
}
