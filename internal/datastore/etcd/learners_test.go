package etcd

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Load and control requests go only to voting members, and the result names the learner.
func TestLearnersGetNeitherLoadNorControlRequests(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	cluster.AddLearner(t)
	voter, learner := cluster.Endpoints[:1], cluster.Endpoints[1:]
	for _, transport := range loadTransports() {
		t.Run(string(transport), func(t *testing.T) { runBesideALearner(t, cluster, transport) })
	}
	t.Run("only learners", func(t *testing.T) {
		preflightFails(t, planFor(learner), results.FailureTargetUnhealthy, learner[0], "voting member", "promote")
	})
	t.Run("the learner alone", func(t *testing.T) {
		preflightFails(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Target.MemberIndex = new(1) }), results.FailureTargetUnhealthy, learner[0], "spec.target.memberIndex: 1")
	})
	t.Run("one address for both", func(t *testing.T) {
		for _, order := range [][]string{{learner[0], voter[0]}, {voter[0], learner[0]}} {
			d := newDriver(t, planFor([]string{balance(t, order)}), 0)
			if serving, err := d.serving(withTimeout(t)); err != nil {
				t.Errorf("got %v, %v: a voting member is behind the address", serving, err)
			}
		}
	})
	t.Run("the voting member does not answer", func(t *testing.T) {
		down := planFor([]string{"127.0.0.1:1", learner[0]}, skipsUnreachable)
		preflightFails(t, down, results.FailureTargetUnhealthy, learner[0], "voting member")
	})
	t.Run("cleanup", func(t *testing.T) {
		p := planFor(cluster.Endpoints)
		if err := newDriver(t, p, 0).Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
		put(t, client, p.Prefix+"00000000", "value")
		d := newDriver(t, p, 0)
		signs, err := d.Signs(withTimeout(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Clean(withTimeout(t), signs); err != nil {
			t.Error(err)
		}
		if left := keysUnder(t, client, p.Prefix); len(left) > 0 {
			t.Errorf("keys are left: %v", left)
		}
	})
	t.Run("leftovers", func(t *testing.T) {
		killed(t, voter, client, ownPrefix, ownUID, 3)
		l := leftovers(t, cluster.Endpoints)
		for range 4 {
			if found := look(t, l, ownPrefix); found.Keys == 0 {
				t.Errorf("found %+v", found)
			}
		}
		if _, err := l.Remove(withTimeout(t), look(t, l, ownPrefix), firstLease); err != nil {
			t.Error(err)
		}
	})
	enableAuth(t, client)
	for _, transport := range loadTransports() {
		t.Run("with a user, "+string(transport), func(t *testing.T) {
			runBesideALearner(t, cluster, transport, withUser(t, "bench", "benchpass"))
		})
	}
}

// runBesideALearner runs a load on a cluster whose last address is that of a learner.
func runBesideALearner(t *testing.T, cluster *etcdtest.Cluster, transport spec.Transport, changes ...func(*plan.Plan)) {
	t.Helper()
	p := planFor(cluster.Endpoints, append(changes, over(transport), func(p *plan.Plan) {
		p.Load.Pods, p.Lock = 2, &plan.Lock{WaitSeconds: 10}
	})...)
	snapshots := runAll(t, p)
	s := results.Merge(snapshots)
	if s.Failure != nil || s.Cleaning != results.CleaningKeysDeleted || len(s.Operations[spec.OperationPut].Errors) > 0 {
		t.Fatalf("failure %+v, cleaning %s, errors %v", s.Failure, s.Cleaning, s.Operations[spec.OperationPut].Errors)
	}
	if len(s.Target.Members) != 1 || s.Target.Members[0].Endpoint != cluster.Endpoints[0] {
		t.Errorf("found the members %+v, wanted the voting member", s.Target.Members)
	}
	if notes := strings.Join(s.Target.Notes, "; "); !strings.Contains(notes, cluster.Endpoints[1]+" leads to a learner") {
		t.Errorf("found the notes %q, wanted the learner in them", notes)
	}
}

// A learner that is promoted during a run still gets nothing. The view shows the change.
func TestAPromotedLearnerIsAChangeOfTheTarget(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	cluster.AddLearner(t)
	d := newDriver(t, planFor(cluster.Endpoints), 0)
	_, first, err := d.Preflight(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.MemberPromote(withTimeout(t), uint64(cluster.Members[1].Server.MemberID())); err != nil {
		t.Fatal(err)
	}
	view := d.View(withTimeout(t))
	if len(first.Voters) != 1 || len(view.Voters) != 2 || len(view.Members) != 1 {
		t.Errorf("found the view %+v after %+v", view, first)
	}
	if holder, err := d.Lock(withTimeout(t)); err != nil || holder.State != load.Held {
		t.Errorf("got %+v, %v", holder, err)
	}
}
