// Package datastore chooses the driver of a store.
//
// It imports the drivers, and load for their contract. Its one invariant: a run's driver is chosen here and nowhere
// else.
package datastore

import (
	"errors"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// drivers has the constructor of each store's driver.
var drivers = map[spec.Datastore]func(p plan.Plan, index int) load.Driver{
	spec.Etcd:      func(p plan.Plan, index int) load.Driver { return etcd.New(p, index) },
	spec.Kine:      func(p plan.Plan, index int) load.Driver { return etcd.NewKine(p, index) },
	spec.ZooKeeper: func(p plan.Plan, index int) load.Driver { return zookeeper.New(p, index) },
}

// New returns the driver of the plan's store for the pod with this index. The caller has validated the plan. New opens
// no connection and reads no file.
func New(p plan.Plan, index int) load.Driver { return drivers[p.Target.Datastore](p, index) }

// CheckCredentials returns what is wrong with the certificates or the user of a target, before anything connects to it.
func CheckCredentials(t plan.Target) error {
	if failure := load.FailureOf(etcd.CheckCredentials(t)); failure != nil {
		return errors.New(failure.Message)
	}
	return nil
}
