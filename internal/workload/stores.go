package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

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
	return Leftover{"To delete them, with the flags for TLS and user that the target needs:", command + text.Quoted(r.Prefix)}
}

// CheckStore returns all reasons why a store and its transport do not support the run, joined; nil if they do. The row of
// an unknown store lists nothing, so everything is refused.
func (r *Run) CheckStore(d spec.Datastore) error {
	row, _ := d.Store()
	transport, variant := r.Load.Transport, r.Workload.Variant()
	errs := []error{
		oneOf("target.datastore", d, spec.Datastores()...),
		Listed("load.transport", transport, row.Transports, d),
		Listed("workload", variant, row.Workloads, d),
		Wanted(slices.Contains(transport.Workloads(), variant), "load.transport", fmt.Sprintf("one that sends %s: %s sends %q", variant, transport, transport.Workloads()), transport),
		Wanted(row.Multiplexed && transport.Multiplexed() || r.Load.Clients <= r.Load.Connections, "load.clients",
			fmt.Sprintf("at most load.connections (%d), because a connection of %s to %s carries one request at a time", r.Load.Connections, transport, d), r.Load.Clients),
		Wanted(row.SessionTimeout || r.Load.SessionTimeoutSeconds == nil, "load.sessionTimeoutSeconds", fmt.Sprintf("none for %s", d), "a value"),
		Wanted(row.KeyPrefix.Accept(r.Prefix) || row.Folder && r.Prefix == "", "prefix", fmt.Sprintf("one that matches %q and not %q for %s", row.KeyPrefix.Match, row.KeyPrefix.Except, d), r.Prefix),
	}
	for _, disturbance := range r.Disturbances {
		errs = append(errs, Listed("disturbances.type", disturbance.Type, row.Disturbances, d))
	}
	if r.Workload.Range != nil || r.Workload.Mixed != nil || r.Workload.Fetch != nil {
		errs = append(errs, Listed("workload.consistency", r.Consistency(), row.Consistencies, d))
	}
	if l := r.Workload.Lease; l != nil {
		ttl, leases := row.LeaseTTL, float64(r.LeaseCount())
		if l.Operation == spec.LeaseGrant {
			leases += float64(r.Load.WarmupPerSecond()) * float64(r.Load.WarmupSeconds)
		}
		errs = append(errs, Wanted(leases <= float64(row.MaxLeases), "workload.lease", fmt.Sprintf("at most %d leases for %s", row.MaxLeases, d), leases))
		errs = append(errs, Wanted(l.TTLSeconds >= ttl.Least && l.TTLSeconds <= ttl.Most, "workload.lease.ttlSeconds", fmt.Sprintf("%d to %d for %s", ttl.Least, ttl.Most, d), l.TTLSeconds))
	}
	if names, l := r.ContestNames(), row.Contest; names > 0 {
		errs = append(errs, Wanted(l.Accept(names, int(r.Load.Clients), int(r.Load.Connections)), "workload.names",
			fmt.Sprintf("at most %d, for at most %d clients per connection and %d per name, for %s", l.MaxNames, l.ClientsPerConnection, l.ClientsPerName, d), names))
	}
	if r.Keys().Count > 0 {
		errs = append(errs, r.checkLimits(row.Keys, d)...)
	}
	return errors.Join(errs...)
}

// checkLimits checks the keys of a workload that chooses keys.
func (r *Run) checkLimits(l spec.KeyLimits, d spec.Datastore) []error {
	keys, values, puts := r.Keys(), r.Values(), r.KeysAtOnce()
	rewrites := l.Rewrites || r.PreloadCount() > 0
	once := r.Load.Requests != nil && *r.Load.Requests <= keys.Count/int64(max(puts, 1))
	return []error{
		Listed("keys.distribution", keys.Distribution, l.Distributions, d),
		Wanted(keys.SizeBytes >= l.MinSizeBytes && keys.Count <= l.MaxCount, "keys", fmt.Sprintf("at least %d bytes, and at most %d keys, for %s", l.MinSizeBytes, l.MaxCount, d), keys),
		Wanted(values.SizeBytes <= l.MaxValueBytes, "values.sizeBytes", fmt.Sprintf("at most %d for %s", l.MaxValueBytes, d), values.SizeBytes),
		Wanted(rewrites || keys.Distribution == spec.Sequential, "keys.distribution", fmt.Sprintf("Sequential for %s, unless keys are overwritten", d), keys.Distribution),
		Wanted(rewrites || once, "load.requests", fmt.Sprintf("at most keys.count for %s, divided by the puts of a transaction", d), r.Load.RequestBound()),
		Wanted(l.Ranges && r.Load.Transport.Ranges() || r.Workload.Range == nil || readsOneKey(*r.Workload.Range), "workload.range",
			fmt.Sprintf("one key per request for %s over %s", d, r.Load.Transport), r.Workload.Range),
		Wanted(rewrites || r.Load.WarmupSeconds == 0, "load.warmupSeconds", fmt.Sprintf("0 for %s", d), r.Load.WarmupSeconds),
		Wanted(r.Workload.Txn == nil || l.Txn.Accept(puts, keys, values), "workload.txn", fmt.Sprintf("transactions of at most %d puts and %d bytes for %s", l.Txn.MaxPuts, l.Txn.MaxBytes, d), puts),
	}
}

// Listed wants one of the values that the row of a store or a transport lists.
func Listed[T, Row ~string](field string, found T, values []T, row Row) error {
	return Wanted(slices.Contains(values, found), field, fmt.Sprintf("one of %q for %s", values, row), found)
}

func readsOneKey(s spec.Range) bool { return s.KeysPerRequest <= 1 && !s.KeysOnly && !s.CountOnly }
