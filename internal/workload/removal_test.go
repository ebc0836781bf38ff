package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestRemovalFromZooKeeperLooksAtTheMarker(t *testing.T) {
	r := valid()
	r.Prefix = "bench/a/"
	got := r.RemovalCommand(spec.ZooKeeper, Owner{UID: "1234", Endpoint: "a:2181"})
	if got != "zkCli.sh -server 'a:2181' stat '/bench/a/.owner-1234' && zkCli.sh -server 'a:2181' deleteall '/bench/a'" {
		t.Errorf("found %s", got)
	}
}
