//go:build stores

package zookeeper

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/faulttest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
)

func TestALoadOutlastsFaults(t *testing.T) {
	t.Parallel()
	servers := zookeepertest.Start(t, 3, "maxClientCnxns=1000")
	var endpoints []string
	for _, s := range servers {
		endpoints = append(endpoints, s.Endpoint())
	}
	p := planFor(endpoints, faulttest.Change)
	target, _, err := driverOf(t, p, 0).Preflight(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	var leader faulttest.Member
	var followers []faulttest.Member
	for i, m := range target.Members {
		if m.Leader {
			leader = servers[i]
		} else {
			followers = append(followers, servers[i])
		}
	}
	faulttest.Run(t, p, New(p, 0), leader, [2]faulttest.Member(followers))
}

func TestAFullDisk(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1, zookeepertest.SmallDisk, "-Dzookeeper.preAllocSize=1024")[0]
	p := planFor([]string{server.Endpoint()}, faulttest.Large)
	faulttest.Fill(t, p, New(p, 0))
}
