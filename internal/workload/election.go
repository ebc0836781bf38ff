package workload

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// election wins an election and resigns with each request.
type election struct{ contending }

func newElection(w spec.Workload) kind {
	return election{contending{of: contest{
		names: int(w.Election.Names), win: spec.OperationElectionCampaign, giveUp: spec.OperationElectionResign,
		hold: time.Duration(w.Election.LeadMilliseconds) * time.Millisecond,
	}}}
}

func (k election) check(r *Run) []error { return k.checkNames(r, "workload.election") }
