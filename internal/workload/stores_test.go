package workload

import (
	"errors"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// The Fast transport supports operations with one response.
func TestFastSupportsUnaryWorkloads(t *testing.T) {
	for name, change := range map[string]func(*Run){
		"puts":               func(*Run) {},
		"transactions":       transacting(3, someKeys),
		"compare-and-swaps":  transacting(0, someKeys),
		"grants of leases":   leasing(spec.Lease{Operation: spec.LeaseGrant}),
		"leases' revocation": leasing(spec.Lease{Operation: spec.LeaseRevoke}),
	} {
		t.Run(name, func(t *testing.T) {
			r := valid()
			change(&r)
			r.Load.Transport = spec.TransportFast
			if err := errors.Join(r.Check(), r.CheckStore(spec.Etcd)); err != nil {
				t.Errorf("wanted a good run, found: %v", err)
			}
		})
	}
}

func TestStoresRefuseUnknownValues(t *testing.T) {
	r := valid()
	requireProblem(t, r.CheckStore("Lake"), "target.datastore: wanted one of [Consul Disk Etcd Kine ZooKeeper]")
	r.Load.Transport = "Carrier"
	requireProblem(t, r.CheckStore(spec.Etcd), "load.clients: wanted at most load.connections (100), because a connection of Carrier to Etcd carries one request at a time, found 1000")
	requireProblem(t, r.CheckStore(spec.Etcd), `load.transport: wanted one of ["Client" "Fast" "JSON" "V2"] for Etcd`)
}
