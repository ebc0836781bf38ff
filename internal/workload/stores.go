package workload

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// store has the store-specific functions outside its driver.
type store struct {
	// check returns all reasons why the store does not support the run.
	check func(r *Run) []error
	// removal returns the shell command that deletes a run's keys.
	removal func(r *Run, o Owner) string
}

var stores = map[spec.Datastore]store{
	spec.Etcd:      {check: anything, removal: removeFromEtcd},
	spec.Kine:      {check: checkKine, removal: removeFromKine},
	spec.ZooKeeper: {check: checkZooKeeper, removal: removeFromZooKeeper},
}

// anything is the check of a store that supports every run.
func anything(*Run) []error { return nil }

// Owner is the owner of a prefix.
type Owner struct {
	// UID of the run.
	UID string
	// Endpoint is an address of the store; empty if unknown.
	Endpoint string
	// Alone: the prefix was generated for the run, so it holds no other keys.
	Alone bool
}

// RemovalCommand returns the shell command that deletes a run's keys from a store. A prefix that a user chose may hold
// other keys; the command deletes them only if the marker shows that the run owns the prefix.
func (r *Run) RemovalCommand(d spec.Datastore, o Owner) string { return stores[d].removal(r, o) }

// CheckStore returns all reasons why a store does not support the run; nil if it does.
func (r *Run) CheckStore(d spec.Datastore) error {
	traits, ok := d.Store()
	if !ok {
		return Wanted(false, "target.datastore", fmt.Sprintf("one of %v", spec.Datastores()), d)
	}
	carries, ok := traits.Transports[r.Load.Transport]
	if !ok {
		known := slices.Sorted(maps.Keys(traits.Transports))
		return Wanted(false, "load.transport", fmt.Sprintf("one of %v for %s", known, d), r.Load.Transport)
	}
	errs := []error{Wanted(carries != spec.Unary || r.kind().unary(), "load.transport", "one that carries every workload: this one carries "+string(carries), r.Load.Transport)}
	for _, disturbance := range r.Disturbances {
		errs = append(errs, Wanted(slices.Contains(traits.Disturbances, disturbance.Type), "disturbances.type", fmt.Sprintf("one of %v for %s", traits.Disturbances, d), disturbance.Type))
	}
	return errors.Join(append(errs, stores[d].check(r)...)...)
}
