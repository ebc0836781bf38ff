//go:build stores

package consul

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/faulttest"
)

func TestALoadOutlastsFaults(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 3, `{"limits": {"http_max_conns_per_client": 1000}}`)
	p := planFor(servers, faulttest.Change)
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
	p := planFor(consultest.Start(t, 1, consultest.SmallDisk), faulttest.Large)
	faulttest.Fill(t, p, New(p, 0))
}
