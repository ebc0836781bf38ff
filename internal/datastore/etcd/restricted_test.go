package etcd

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// refusing serves an etcd and refuses requests, as etcd refuses them to a user without the rights.
func refusing(t *testing.T, upstream string, requests ...string) string {
	t.Helper()
	return etcdtest.StartProxy(t, upstream, func(_ context.Context, method string, _ []byte, forward func() ([]byte, error)) ([]byte, error) {
		if slices.Contains(requests, path.Base(method)) {
			return nil, rpctypes.ErrGRPCPermissionDenied
		}
		return forward()
	})
}

// A user who may not read the members' status can run a load. The result says what is not known.
func TestARunWithoutTheRightToReadStatus(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor([]string{refusing(t, cluster.Endpoints[0], "Status")}, func(p *plan.Plan) {
		p.Guard = spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{Alarm: true, LeaderChange: true}}
	})
	snapshots := runAll(t, p)
	s := snapshots[0]
	if s.Failure != nil || s.Cleaning != results.CleaningKeysDeleted {
		t.Fatalf("failure %+v, cleaning %s", s.Failure, s.Cleaning)
	}
	if notes := strings.Join(s.Target.Notes, "; "); !strings.Contains(notes, "Status") || !strings.Contains(notes, "the leader is not known") {
		t.Errorf("found the notes %q", notes)
	}
	if s.Target.Members[0].ID == "" || s.Target.Members[0].Leader {
		t.Errorf("found the member %+v", s.Target.Members[0])
	}
	if _, watched := s.Unwatched[spec.GuardLeaderChange]; watched || !strings.Contains(s.Unwatched[spec.GuardAlarm], "Status") {
		t.Errorf("found the rules that were not checked %v", s.Unwatched)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// An election is noticed by its number, which each answer has.
func TestAnElectionIsNoticedWithoutStatus(t *testing.T) {
	cluster := etcdtest.Start(t, 3, nil)
	var endpoints []string
	for _, e := range cluster.Endpoints {
		endpoints = append(endpoints, refusing(t, e, "Status"))
	}
	d := newDriver(t, planFor(endpoints), 0)
	_, first, err := d.Preflight(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	var changes members.Changes
	changes.From(first)
	changes.See(d.View(withTimeout(t)))
	if found := changes.Found(); len(found) > 0 {
		t.Errorf("found the changes %+v before the election", found)
	}
	cluster.MoveLeader(t, (cluster.Leader(t)+1)%3)
	changes.See(d.View(withTimeout(t)))
	if found := changes.Found(); len(found) != 1 || found[0].Aspect != results.AspectLeader {
		t.Errorf("found the changes %+v after the election", found)
	}
}

// A refusal names the request that was refused, and what to do.
func TestARefusalNamesTheRequest(t *testing.T) {
	cluster, _ := oneMember(t)
	for request, tc := range map[string]struct {
		change func(*plan.Plan)
		names  []string
	}{
		"Txn":         {func(*plan.Plan) {}, []string{"the request Txn", "read and write under the run's prefix: etcdbench/"}},
		"Status":      {func(p *plan.Plan) { p.Target.Members = spec.MembersLeader }, []string{"spec.target.members: Leader", "Set spec.target.members: All", "Status", "root"}},
		"LeaseLeases": {leasePlan(spec.Lease{Operation: spec.LeaseGrant}), []string{"list leases", "attached to leases"}},
	} {
		t.Run(request, func(t *testing.T) {
			d := newDriver(t, planFor([]string{refusing(t, cluster.Endpoints[0], request)}, tc.change), 0)
			_, _, err := d.Preflight(withTimeout(t))
			if err == nil {
				err = d.Claim(withTimeout(t))
			}
			wantFailure(t, err, results.FailureAuthenticationFailed, tc.names...)
		})
	}
}

// The user may not ask the member that is left for its status, and its metrics say that it has no leader.
func TestALostMajorityIsNoticedWithoutStatus(t *testing.T) {
	for name, tc := range map[string]struct {
		metrics string
		lacks   bool
	}{
		"no leader":  {"etcd_server_has_leader 0\n", true},
		"a leader":   {"etcd_server_has_leader 1\n", false},
		"no metrics": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/metrics" {
					_, _ = io.WriteString(w, tc.metrics)
					return
				}
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(codes.PermissionDenied)))
			}))
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetHTTP1(true)
			server.Config.Protocols.SetUnencryptedHTTP2(true)
			server.Start()
			defer server.Close()
			address := server.Listener.Addr().String()
			d := newDriver(t, planFor([]string{address}), 0)
			if err := d.findLeader(withTimeout(t), []string{address}); errors.Is(err, errNoLeader) != tc.lacks {
				t.Errorf("got %v, wanted that there is no leader: %v", err, tc.lacks)
			}
		})
	}
}

// The command that removes what runs left needs no more rights than the runs.
func TestLeftoversAreRemovedWithoutTheRightToReadStatus(t *testing.T) {
	cluster, client := oneMember(t)
	killed(t, cluster.Endpoints, client, ownPrefix, ownUID, 5)
	l := leftovers(t, []string{refusing(t, cluster.Endpoints[0], "Status")})
	if done, err := l.Remove(withTimeout(t), look(t, l, ownPrefix), firstLease); err != nil || done.Keys != 9 {
		t.Errorf("removed %+v, %v", done, err)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}
