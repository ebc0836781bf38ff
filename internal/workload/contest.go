package workload

import (
	"fmt"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// contending is a kind whose clients contend for names, such as locks.
type contending struct {
	base
	of contest
}

func (k contending) contest() *contest { return &k.of }

func (k contending) steps() []step {
	return []step{{kind: k.of.win}, {kind: k.of.giveUp, hold: k.of.hold}}
}

func (k contending) operations() []spec.Operation {
	return []spec.Operation{k.of.win, k.of.giveUp, k.of.win.Inner()}
}

func (k contending) at(*Workload, Stream, int64) Operation {
	return Operation{Kind: k.of.win, Subject: OnName}
}

func (contending) sessions() bool { return true }

func (contending) leases(r *Run) int64 { return int64(r.Load.Clients) }

// growth: each request writes a key and deletes it.
func (contending) growth(r *Run) (preload, request float64, known bool) {
	return 0, 2 * entryBytes(len(r.ContestKey(0))), true
}

func (k contending) checkNames(r *Run, field string) []error {
	const maxHold = maxSeconds * time.Second
	return []error{
		Wanted(k.of.names >= 1 && k.of.names <= int(r.Load.Clients), field+".names", "1 to load.clients", k.of.names),
		Wanted(k.of.hold >= 0 && k.of.hold <= maxHold, field, fmt.Sprintf("to hold for 0 to %v", maxHold), k.of.hold),
	}
}

// ContestNames is the number of names for which clients contend; 0 if they do not.
func (r *Run) ContestNames() int {
	if of := r.kind().contest(); of != nil {
		return of.names
	}
	return 0
}

// ContestName returns the name for which the client with this global number contends. Clients with neighbouring numbers
// contend for different names, so the numbers of contenders of any two names differ by one at most. All names have the
// same length.
func (r *Run) ContestName(client int) string {
	names := max(r.kind().contest().names, 1)
	digits := len(strconv.Itoa(names - 1))
	return fmt.Sprintf("%s%0*d", r.LockPrefix(), digits, client%names)
}

// ContestKey returns the key of a client that contends for a name; clientv3 appends the lease to it.
func (r *Run) ContestKey(client int) string {
	return fmt.Sprintf("%s/%x", r.ContestName(client), r.LeaseID(LeaseOfClient, int64(client)))
}

// lock acquires and releases a lock with each request.
type lock struct{ contending }

func newLock(w spec.Workload) kind {
	return lock{contending{of: contest{
		names: int(w.Lock.Names), win: spec.OperationLockAcquire, giveUp: spec.OperationLockRelease,
		hold: time.Duration(w.Lock.HoldMilliseconds) * time.Millisecond,
	}}}
}

func (k lock) check(r *Run) []error { return k.checkNames(r, "workload.lock") }

// election wins an election and resigns with each request.
type election struct{ contending }

func newElection(w spec.Workload) kind {
	return election{contending{of: contest{
		names: int(w.Election.Names), win: spec.OperationElectionCampaign, giveUp: spec.OperationElectionResign,
		hold: time.Duration(w.Election.LeadMilliseconds) * time.Millisecond,
	}}}
}

func (k election) check(r *Run) []error { return k.checkNames(r, "workload.election") }
