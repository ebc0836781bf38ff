package etcd

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A shared address can lead to another member than the one that the preflight saw. No transport loads that member.
func TestConnectRefusesAnotherMember(t *testing.T) {
	cluster, _ := oneMember(t)
	for _, transport := range loadTransports() {
		for selection, tc := range map[string]struct {
			change  func(*plan.Plan)
			refused bool
		}{
			"all members":      {func(*plan.Plan) {}, false},
			"the leader":       {func(p *plan.Plan) { p.Target.Members = spec.MembersLeader }, true},
			"one member alone": {func(p *plan.Plan) { p.Target.MemberIndex = new(0) }, true},
		} {
			refused := tc.refused
			d := connected(t, planFor(cluster.Endpoints, over(transport), tc.change))
			if _, err := d.Connect(withTimeout(t), 0); err != nil {
				t.Errorf("%s, %s: %v", transport, selection, err)
			}
			d = connected(t, d.plan)
			d.topology.members[0].id++
			d.topology.leader = d.topology.members[0].id
			_, err := d.Connect(withTimeout(t), 0)
			if !refused && err != nil {
				t.Errorf("%s, %s, another member: %v", transport, selection, err)
			}
			if refused {
				wantFailure(t, err, results.FailureTargetUnhealthy, "leads to the member")
			}
		}
	}
}
