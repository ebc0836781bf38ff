package etcd

import (
	"errors"
	"maps"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var errNoLeader = errors.New("the target has no leader: its members have no quorum, or an election is in progress")

// topology has the member behind each of the plan's addresses, and the leader. It uses the plan's addresses, because
// the advertised ones may not be reachable from here.
type topology struct {
	members []member
	// leader is the ID of the leader, 0 if there is none. unread: the user may not read the members' status, so the leader
	// may be unknown.
	leader uint64
	unread bool
	// seen is when the members were asked.
	seen time.Time
}

type member struct {
	id, cluster uint64
	endpoint    string
	state       members.State
	// quotaBytes is 0 if the member does not report its quota, and negative if it has none.
	quotaBytes int64
}

func (t *topology) add(endpoint string, s *clientv3.StatusResponse) {
	t.members = append(t.members, member{
		id: s.Header.MemberId, cluster: s.Header.ClusterId, endpoint: endpoint,
		state: stateIn((*etcdserverpb.StatusResponse)(s)), quotaBytes: s.DbSizeQuota,
	})
	if s.Leader != 0 {
		t.leader = s.Leader
	}
}

// remedies say how to clear an alarm.
var remedies = map[string]string{
	"NOSPACE": "its database has reached its quota, and etcd refuses writes. Compact and defragment it, or raise --quota-backend-bytes, then disarm the alarm (etcdctl alarm disarm)",
	"CORRUPT": "its data differs from that of the other members. Replace the member; do not load this cluster",
}

// check returns why the target must not be loaded.
func (t *topology) check(target plan.Target) error {
	for _, m := range t.members {
		switch {
		case m.id == 0:
			return load.Errorf(results.FailureUnsupported,
				"%s answers without the ID of a member, as kine does (K3s without etcd). kine serves only the load "+
					"of Kubernetes API servers: choose that load (spec.kubernetes) and the store Kine "+
					"(spec.target.datastore). Otherwise name the members of an etcd cluster", m.endpoint)
		case m.state.Alarm != "":
			return load.Errorf(results.FailureAlarmRaised,
				"%s reports the alarm %s: %s", m.endpoint, m.state.Alarm, remedies[m.state.Alarm])
		case m.cluster != t.members[0].cluster:
			return differentClusters(t.members[0].endpoint, t.members[0].cluster, m.endpoint, m.cluster)
		}
	}
	if t.unread && target.Members != spec.MembersAll {
		return load.Errorf(results.FailureAuthenticationFailed,
			"spec.target.members: %s follows the leader, and %s. Set spec.target.members: All, or use a user with that role", target.Members, unread)
	}
	if t.leader == 0 && !t.unread {
		return load.Errorf(results.FailureNoQuorum, "%d addresses answer, but %w", len(t.members), errNoLeader)
	}
	switch {
	case len(t.eligible(target)) > 0:
		return nil
	case target.Alone() != "":
		return unhealthy("%s, which %s selects, does not answer or leads to a learner. Change spec.target.memberIndex", target.Alone(), target.Selection())
	}
	return unhealthy("none of the %d addresses leads to a member that spec.target.members: %s selects (the "+
		"leader is %s). Add the address of such a member, or change spec.target.members", len(t.members), target.Members, hexID(t.leader))
}

func differentClusters(one string, first uint64, other string, second uint64) error {
	return unhealthy("%s belongs to the cluster %s and %s to the cluster %s: name the addresses of one cluster", one, hexID(first), other, hexID(second))
}

// eligible returns the addresses that receive load.
func (t *topology) eligible(target plan.Target) []string {
	var out []string
	for _, m := range t.members {
		leads, selected := m.id == t.leader, target.Members == spec.MembersAll
		switch alone := target.Alone(); {
		case alone != "":
			selected = m.endpoint == alone
		case !selected:
			selected = leads == (target.Members == spec.MembersLeader)
		}
		if selected {
			out = append(out, m.endpoint)
		}
	}
	return out
}

// lead sets the leader, unless no address of the plan would then receive load.
func (t *topology) lead(leader uint64, target plan.Target) {
	before := t.leader
	t.leader = leader
	if len(t.eligible(target)) == 0 {
		t.leader = before
	}
}

// target is the topology as users see it. A voting member that no address of the plan reaches has no address in it.
func (t *topology) target(names map[uint64]string) *results.Target {
	out := &results.Target{ClusterID: hexID(t.members[0].cluster)}
	seen := map[uint64]bool{}
	for _, m := range t.members {
		if seen[m.id] {
			continue
		}
		seen[m.id] = true
		out.Members = append(out.Members, results.Member{
			ID: hexID(m.id), Name: names[m.id], Endpoint: m.endpoint, Version: m.state.Version,
			Leader: m.id == t.leader, DatabaseBytes: m.state.DatabaseBytes, QuotaBytes: max(m.quotaBytes, 0),
		})
	}
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if !seen[id] {
			out.Members = append(out.Members, results.Member{ID: hexID(id), Name: names[id], Leader: id == t.leader})
		}
	}
	return out
}

// view is the members' state, against which later states are compared. The voting members are those with names.
func (t *topology) view(names map[uint64]string) members.View {
	view := members.View{At: t.seen, Members: map[string]members.State{}}
	for _, m := range t.members {
		view.Members[hexID(m.id)] = m.state
	}
	for id := range names {
		view.Voters = append(view.Voters, hexID(id))
	}
	slices.Sort(view.Voters)
	return view
}

// at returns the ID of the member that answered at an address.
func (t *topology) at(endpoint string) uint64 {
	for _, m := range t.members {
		if m.endpoint == endpoint {
			return m.id
		}
	}
	return 0
}

// wanted returns, by address, the ID of the member that must answer there. It is empty if any member may.
func (t *topology) wanted(target plan.Target) map[string]uint64 {
	if !target.SelectsMembers() {
		return nil
	}
	ids := map[string]uint64{}
	for _, m := range t.members {
		ids[m.endpoint] = m.id
	}
	return ids
}
