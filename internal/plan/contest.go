package plan

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	// WorkloadLock acquires a lock, holds it and releases it with each request.
	WorkloadLock WorkloadType = "Lock"
	// WorkloadElection wins an election, leads and resigns with each request.
	WorkloadElection WorkloadType = "Election"
)

// Contest is for what clients contend in WorkloadLock and WorkloadElection.
type Contest struct {
	// Names is how many locks, or elections, there are. Each client contends for
	// one of them all the time, so that the contenders of any two names differ by
	// one at most.
	Names int `json:"names"`
	// HoldMilliseconds is how long who has won keeps what it won.
	HoldMilliseconds int `json:"holdMilliseconds,omitempty"`
}

// isContest says whether clients contend for names.
func (w Workload) isContest() bool { return w.Type == WorkloadLock || w.Type == WorkloadElection }

// Hold is how long who has won keeps what it won, in a workload in which clients
// contend.
func (w Workload) Hold() time.Duration {
	if w.Contest == nil {
		return 0
	}
	return time.Duration(w.Contest.HoldMilliseconds) * time.Millisecond
}

// ContestName returns the name for which the client with this global number
// contends. All names have one length.
func (p Plan) ContestName(client int) string {
	names := p.Workload.Contest.Names
	digits := len(strconv.Itoa(names - 1))
	return fmt.Sprintf("%s%0*d", p.LockPrefix(), digits, client%names)
}

// ContestKey returns the key of a client that contends for a name: clientv3 puts
// the lease after it.
func (p Plan) ContestKey(client int) string {
	return fmt.Sprintf("%s/%x", p.ContestName(client), p.LeaseID(LeaseOfClient, int64(client)))
}

// DrainLimit is how long what is in flight when the window ends may take: where
// a request is of two steps, each may take its time-out.
func (p Plan) DrainLimit() time.Duration {
	if p.Workload.isContest() {
		return 2*p.Load.RequestTimeout() + p.Workload.Hold()
	}
	return p.Load.RequestTimeout()
}

func (p Plan) validateContest() error {
	w := p.Workload
	if (w.Contest != nil) != w.isContest() {
		return check(false, "workload.contest", "to be set if, and only if, workload.type is Lock or Election", w.Contest != nil)
	}
	if w.Contest == nil {
		return nil
	}
	return errors.Join(
		check(w.Contest.Names >= 1 && w.Contest.Names <= p.Load.Clients, "workload.contest.names", "1 to load.clients", w.Contest.Names),
		check(w.Contest.HoldMilliseconds >= 0 && w.Contest.HoldMilliseconds <= 1000*maxSeconds, "workload.contest.holdMilliseconds",
			fmt.Sprintf("0 to %d", 1000*maxSeconds), w.Contest.HoldMilliseconds),
	)
}
