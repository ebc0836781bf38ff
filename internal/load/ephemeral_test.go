package load

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The members go with the run, and the keys with them: a pod must not spend time on their deletion, nor claim that it did.
func TestKeysOnMembersOfTheRunAreNotDeleted(t *testing.T) {
	d := &fakeDriver{}
	s := run(t, planOf(func(p *plan.Plan) { p.Ephemeral = true }), d)
	if d.released.Load() || s.Cleaning != results.CleaningKeysLeft || s.Stage != results.StageDone {
		t.Errorf("released %v, cleaning %s, stage %s; wanted no deletion, and a pod that is done", d.released.Load(), s.Cleaning, s.Stage)
	}
}
