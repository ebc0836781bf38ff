package workload

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// store has the store-specific functions outside its driver.
type store struct {
	// check returns all reasons why the store does not support the run.
	check func(r *Run) []error
}

var stores = map[spec.Datastore]store{
	spec.Etcd:      {check: anything},
	spec.Kine:      {check: checkKine},
	spec.ZooKeeper: {check: checkZooKeeper},
}

// anything is the check of a store that supports every run.
func anything(*Run) []error { return nil }

// Leftover is what a user does about keys that a run has left: a sentence that ends in a colon, and a shell command. The
// command never deletes a key that is not the run's.
type Leftover struct{ Intro, Command string }

// String returns both.
func (l Leftover) String() string { return l.Intro + " " + l.Command }

// Leftover returns what a user does about the run's keys that are left in a store at these addresses. The command recognizes
// kine.
func (r *Run) Leftover(d spec.Datastore, endpoints []string) Leftover {
	command := "kubectl etcdbench clean "
	if d != spec.Etcd && d != spec.Kine {
		command += "--datastore " + string(d) + " "
	}
	if len(endpoints) > 0 {
		command += "--endpoints " + text.Quoted(strings.Join(endpoints, ",")) + " "
	}
	return Leftover{"To delete them, with the same flags for TLS and user as etcdctl:", command + text.Quoted(r.Prefix)}
}

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
