// Package datastore chooses the driver of a store.
//
// It imports the drivers, and load for their contract.
package datastore

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/disk"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// stores has the constructors of each store.
var stores = map[spec.Datastore]struct {
	driver    func(p plan.Plan, index int) load.Driver
	leftovers func(plan.Target) *ownership.Leftovers
}{
	spec.Etcd:      {func(p plan.Plan, index int) load.Driver { return etcd.New(p, index) }, etcd.NewLeftovers},
	spec.Kine:      {func(p plan.Plan, index int) load.Driver { return etcd.NewKine(p, index) }, etcd.NewLeftovers},
	spec.ZooKeeper: {func(p plan.Plan, index int) load.Driver { return zookeeper.New(p, index) }, zookeeper.NewLeftovers},
	spec.Disk:      {func(p plan.Plan, _ int) load.Driver { return disk.New(p) }, nil},
	spec.Consul:    {func(p plan.Plan, index int) load.Driver { return consul.New(p, index) }, consul.NewLeftovers},
}

// New returns the driver of the plan's store for the pod with this index. The caller has validated the plan. New opens
// no connection and reads no file.
func New(p plan.Plan, index int) load.Driver {
	if p.Workload.OnlyObserves() {
		return etcd.NewObserving(p)
	}
	return stores[p.Target.Datastore].driver(p, index)
}

// Leftovers returns what runs have left in a target with keys: an etcd or a kine if its store is not named. It connects to
// nothing yet.
func Leftovers(t plan.Target) *ownership.Leftovers {
	return stores[cmp.Or(t.Datastore, spec.Etcd)].leftovers(t)
}

// IsRecognized reports whether Leftovers needs no name of this store.
func IsRecognized(d spec.Datastore) bool { return d == spec.Etcd || d == spec.Kine }

// CheckCredentials returns what is wrong with the certificates, the user or the token of a target, before anything connects
// to it.
func CheckCredentials(t plan.Target) error {
	_, err := secrets.Read(t)
	if failure := load.FailureOf(err); failure != nil {
		return errors.New(failure.Message)
	}
	return nil
}

// Serves reports whether a member of a store that ephemeral starts answers that it serves and has a leader.
func Serves(ctx context.Context, store ephemeral.Store, endpoint string) bool {
	if store.Health == "" {
		return zookeeper.Serves(ctx, endpoint)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+endpoint+store.Health, nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}
