//go:build stores

package consul

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Tests against a real Consul.

const (
	ownUID, otherUID = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"
	ownPrefix        = "etcdbench/11111111/"
)

// planFor is a small plan for a target. It applies the changes to the plan.
func planFor(servers []*consultest.Server, changes ...func(*plan.Plan)) plan.Plan {
	var endpoints []string
	for _, s := range servers {
		endpoints = append(endpoints, s.Endpoint)
	}
	p := plan.Plan{
		Version: plan.Version, RunUID: ownUID, Name: "test/run", TimeoutSeconds: 120,
		Run: workload.Run{
			Prefix: ownPrefix,
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
				Keys:   spec.Keys{Count: 10_000, SizeBytes: 8, Distribution: spec.Sequential},
				Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64},
			}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 1, Connections: 4, Clients: 4, Requests: new(int64(1_500)), RequestTimeoutSeconds: 10, Seed: 1,
			},
		},
		Target: plan.Target{Datastore: spec.Consul, Endpoints: endpoints, Members: spec.MembersAll},
		Guard:  spec.Guard{StopOn: &spec.StopRules{}},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func withToken(token string) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Target.Auth = &plan.Auth{Given: plan.Given{plan.TokenFile: {Name: "--token-file", Content: token + "\n"}}}
	}
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// driverOf returns the driver of a pod, until the test ends.
func driverOf(t *testing.T, p plan.Plan, index int) *Driver {
	t.Helper()
	d := New(p, index)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// together starts all pods at once, when each is ready or has failed.
type together struct {
	all    *sync.WaitGroup
	arrive func()
}

func (c together) StartAt(ctx context.Context) (time.Time, error) {
	c.arrive()
	c.all.Wait()
	return time.Now(), ctx.Err()
}

func (together) Admitted(context.Context) error { return nil }

func (together) Stopped() <-chan struct{} { return nil }

// run runs all parts of a plan at once and returns their last snapshots. looks are called when all pods have sent their load.
func run(t *testing.T, p plan.Plan, looks ...func()) []*results.Snapshot {
	t.Helper()
	var all, loaded, running sync.WaitGroup
	all.Add(p.Pods())
	loaded.Add(p.Pods())
	look := sync.OnceFunc(func() {
		for _, look := range looks {
			look()
		}
	})
	snapshots := make([]*results.Snapshot, p.Pods())
	for i := range p.Pods() {
		control := together{&all, sync.OnceFunc(all.Done)}
		session, err := load.NewSession(load.Config{Plan: p, Index: i, Driver: pausing{New(p, i), &loaded, look}, Control: control})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := session.Run(bounded(t)); err != nil {
				t.Errorf("pod %d: %v", i, err)
			}
			control.arrive()
			snapshots[i] = session.Snapshot()
		})
	}
	running.Wait()
	return snapshots
}

// sums adds up the requests that pods sent, by phase, and how the measured ones ended.
func sums(snapshots []*results.Snapshot) (sent map[spec.RPC]uint64, succeeded, failed uint64) {
	sent = map[spec.RPC]uint64{}
	for _, s := range snapshots {
		for rpc, phases := range s.Requests {
			for _, n := range phases {
				sent[rpc] += n
			}
		}
		for _, o := range s.Operations {
			succeeded += o.Latency.Count()
			failed += o.Failed.Count()
		}
	}
	return sent, succeeded, failed
}

var countLine = regexp.MustCompile(`(?m)^consul_api_http_count\{method="(\w+)",path="([^"]+)"\} (\S+)$`)

// served returns how many requests a server has counted, by method and path.
func served(t *testing.T, s *consultest.Server) map[string]uint64 {
	t.Helper()
	counts := map[string]uint64{}
	for _, line := range countLine.FindAllStringSubmatch(s.Ask(t, http.MethodGet, "/v1/agent/metrics?format=prometheus", ""), -1) {
		n, err := strconv.ParseFloat(line[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		counts[line[1]+" "+line[2]] += uint64(n)
	}
	return counts
}

// paths are the requests as Consul counts them.
var paths = map[spec.RPC]string{
	spec.RPCKVGet: "GET v1_kv_", spec.RPCKVPut: "PUT v1_kv_", spec.RPCKVDelete: "DELETE v1_kv_", spec.RPCTxn: "PUT v1_txn",
	spec.RPCSessionCreate: "PUT v1_session_create", spec.RPCSessionRenew: "PUT v1_session_renew_", spec.RPCSessionDestroy: "PUT v1_session_destroy_",
	spec.RPCSessionList:  "GET v1_session_list",
	spec.RPCStatusLeader: "GET v1_status_leader", spec.RPCStatusPeers: "GET v1_status_peers", spec.RPCAgentSelf: "GET v1_agent_self",
	spec.RPCAgentMetrics: "GET v1_agent_metrics",
}

func TestOwnership(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	s := servers[0]
	of := func(prefix, uid string) plan.Plan {
		return planFor(servers, func(p *plan.Plan) {
			p.Prefix, p.RunUID, p.Load.Requests, p.Workload.Put.Keys.Count = prefix, uid, new(int64(10)), 10
		})
	}
	ownershiptest.Run(t, ownershiptest.Target{
		Claims: func(t *testing.T, run *ownership.Run) ownership.Store {
			return driverOf(t, of(run.Prefix, run.UID), run.Pod).ownClaims(run)
		},
		Own: func(prefix string, number int64) string {
			p := of(prefix, "")
			keys := p.KeyWriter()
			return string(keys.AppendKey(nil, number))
		},
		Other: func(prefix string) string { return prefix + "00000004x" },
		Put: func(t *testing.T, name string) {
			s.Ask(t, http.MethodPut, "/v1/kv/"+name, fmt.Sprint(time.Now()))
		},
		Remove: func(t *testing.T, name string) { s.Ask(t, http.MethodDelete, "/v1/kv/"+name, "") },
		Names:  func(t *testing.T, prefix string) []string { return s.Keys(t, prefix) },
		Steal: func(t *testing.T, run *ownership.Run) {
			s.Ask(t, http.MethodDelete, "/v1/kv/"+run.Marker(), "")
			s.Ask(t, http.MethodPut, "/v1/kv/"+run.Marker(), "run-z deleting")
		},
	})
}

// What a killed run left, with keys of others beside it, is found and removed by what is there.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	s := servers[0]
	p := planFor(servers)
	d := driverOf(t, p, 0)
	if err := d.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	keys := p.KeyWriter()
	for n := range int64(200) {
		s.Ask(t, http.MethodPut, "/v1/kv/"+string(keys.AppendKey(nil, n)), "x")
	}
	others := []string{"etcdbench/mine", "etcdbench/other/1"}
	for _, name := range others {
		s.Ask(t, http.MethodPut, "/v1/kv/"+name, "x")
	}
	l := NewLeftovers(p.Target)
	defer l.Close()
	all, err := l.List(bounded(t), "etcdbench/")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, left := range all {
		found[left.Prefix] = fmt.Sprintf("%s %d", left.Owner, left.Keys)
	}
	want := map[string]string{ownPrefix: ownUID + " 202", "etcdbench/mine": " 1", "etcdbench/other/": " 1"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for _, left := range all {
		if left.Owner == "" {
			continue
		}
		done, err := l.Remove(bounded(t), left, 0)
		if err != nil || done.Keys != 202 || done.Foreign != 0 {
			t.Errorf("removed %+v, %v", done, err)
		}
	}
	if left := s.Keys(t, ""); !slices.Equal(left, others) {
		t.Errorf("left %q, wanted %q", left, others)
	}
}

// A pod that leaves while another one deletes writes the marker again. Its index must change although its content does not: a
// deletion that looked at the marker before must fail.
func TestAMarkerThatIsWrittenAgainStopsDeletions(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	s := servers[0]
	p := planFor(servers, func(p *plan.Plan) { p.Load.Requests = new(int64(10)) })
	run := &ownership.Run{Prefix: p.Prefix, UID: p.RunUID, Things: 10}
	d := driverOf(t, p, 0)
	c := d.ownClaims(run)
	if err := ownership.New(run, c).Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Leave(bounded(t)); err != nil {
		t.Fatal(err)
	}
	walker := c.Walk()
	page, _, err := walker.Next(bounded(t), 0)
	if err != nil || len(page) != 1 {
		t.Fatal(page, err)
	}
	store := kv{d}
	marker, err := store.Get(bounded(t), run.Marker())
	if err != nil || marker == nil {
		t.Fatal(marker, err)
	}
	if done, err := store.Swap(bounded(t), marker.Name, marker.Value, marker.Version); err != nil || !done {
		t.Fatal(done, err)
	}
	key := p.Prefix + "00000000"
	s.Ask(t, http.MethodPut, "/v1/kv/"+key, "x")
	batch := page[0]
	if done, err := c.Delete(bounded(t), batch, 0); err != nil || done {
		t.Errorf("deleted by an old index of the marker: %t, %v", done, err)
	}
	again, err := c.Reread(bounded(t), batch, 0)
	if err != nil || len(again) != 1 {
		t.Fatal(again, err)
	}
	if done, err := c.Delete(bounded(t), again[0], 0); err != nil || !done {
		t.Errorf("not deleted after another look: %t, %v", done, err)
	}
}

// wantReason checks that an error has a reason and contains words.
func wantReason(t *testing.T, err error, reason results.FailureReason, words ...string) {
	t.Helper()
	failure := load.FailureOf(err)
	if failure == nil || failure.Reason != reason {
		t.Fatalf("wanted %s, found %v", reason, err)
	}
	for _, w := range words {
		if !strings.Contains(failure.Message, w) {
			t.Errorf("wanted %q in: %s", w, failure.Message)
		}
	}
}

// A token needs rights on the run's prefix alone. Without rights on sessions there is no lock.
func TestTokens(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1, consultest.ACLs)
	s := servers[0]
	own := `key_prefix "etcdbench/11111111/" { policy = "write" }`
	for name, tc := range map[string]struct {
		token    string
		unlocked bool
	}{
		"the prefix alone": {s.Token(t, own), true},
		"with the lock":    {s.Token(t, `key_prefix "etcdbench/" { policy = "write" } session_prefix "" { policy = "write" } agent_prefix "" { policy = "read" }`), false},
	} {
		snapshots := run(t, planFor(servers, withToken(tc.token), func(p *plan.Plan) { p.Lock = &plan.Lock{WaitSeconds: 60} }))
		if _, succeeded, _ := sums(snapshots); succeeded != 1_500 || snapshots[0].Target.Unlocked != tc.unlocked {
			t.Errorf("%s: %d succeeded, and there is no lock: %t", name, succeeded, snapshots[0].Target.Unlocked)
		}
		if left := s.Keys(t, ""); len(left) > 0 {
			t.Errorf("%s: left %q", name, left)
		}
	}
	token := s.Token(t, own)
	d := driverOf(t, planFor(servers, withToken(token)), 0)
	if err := d.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	if err := d.Sign(bounded(t)); err != nil {
		t.Error(err)
	}
	s.Ask(t, http.MethodDelete, "/v1/acl/token/"+s.Accessor(t, token), "")
	if err := d.Sign(bounded(t)); !errors.Is(err, load.ErrRefused) {
		t.Errorf("a sign of life with a token that is gone: %v", err)
	}
	l := NewLeftovers(planFor(servers).Target)
	defer l.Close()
	_, err := l.List(bounded(t), "etcdbench/")
	wantReason(t, err, results.FailureAuthenticationFailed, "key_prefix")
	preflight := func(change func(*plan.Plan)) error {
		_, _, err := driverOf(t, planFor(servers, change), 0).Preflight(bounded(t))
		return err
	}
	wantReason(t, preflight(withToken("33333333-3333-3333-3333-333333333333")), results.FailureAuthenticationFailed, "spec.target.auth")
	wantReason(t, preflight(func(*plan.Plan) {}), results.FailureAuthenticationFailed, "key_prefix")
	wantReason(t, preflight(withToken(s.Token(t, strings.Replace(own, "write", "read", 1)))), results.FailureAuthenticationFailed, "key_prefix")
}

// A limit is noticed before the load: by what the server reports, and otherwise by opening the connections.
func TestLimits(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1, `{"limits": {"http_max_conns_per_client": 20, "kv_max_value_size": 1000}}`)
	many := func(p *plan.Plan) { p.Load.Connections, p.Load.Clients = 17, 17 }
	_, _, err := driverOf(t, planFor(servers, many), 0).Preflight(bounded(t))
	wantReason(t, err, results.FailureTargetUnhealthy, "takes 20 connections", "needs 21")
	_, _, err = driverOf(t, planFor(servers, func(p *plan.Plan) { p.Workload.Put.Values.SizeBytes = 1001 }), 0).Preflight(bounded(t))
	wantReason(t, err, results.FailureTargetUnhealthy, "kv_max_value_size", "1001")
	d := driverOf(t, planFor(servers), 0)
	for n := range 30 {
		if _, err = d.Connect(bounded(t), n); err != nil {
			break
		}
	}
	wantReason(t, err, results.FailureTargetUnhealthy, "http_max_conns_per_client")
}

// The load goes on with another leader, which the driver notices. Addresses of two clusters are refused.
func TestServersOfACluster(t *testing.T) {
	t.Parallel()
	servers, other := consultest.Start(t, 3), consultest.Start(t, 1)
	_, _, err := driverOf(t, planFor(append(other, servers...)), 0).Preflight(bounded(t))
	wantReason(t, err, results.FailureTargetUnhealthy, "one cluster")
	d := driverOf(t, planFor(servers), 0)
	target, view, err := d.Preflight(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	leader, term := view.Election()
	at := slices.IndexFunc(target.Members, func(m results.Member) bool { return m.Leader })
	if at < 0 || len(view.Voters) != 3 || len(target.Members) != 3 || term == 0 {
		t.Fatalf("found %+v, %+v", target, view)
	}
	if err := d.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	servers[at].Kill()
	ctx := bounded(t)
	for {
		now, newer := d.View(ctx).Election()
		if now != leader && newer > term {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the leader is still %s in term %d", now, newer)
		}
	}
	if _, err := d.Release(ctx); err != nil {
		t.Error(err)
	}
	if !d.Answers(ctx) {
		t.Error("the servers do not answer")
	}
}

// A run is refused that another system depends on, unless the user accepts that.
func TestTenantsAreProtected(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1)
	servers[0].Ask(t, http.MethodPut, "/v1/kv/vault/core/lock", "x")
	_, _, err := driverOf(t, planFor(servers), 0).Preflight(bounded(t))
	wantReason(t, err, results.FailureControlPlaneTarget, "Vault")
	_, _, err = driverOf(t, planFor(servers, func(p *plan.Plan) { p.Guard.AcknowledgeControlPlane = true }), 0).Preflight(bounded(t))
	if err != nil {
		t.Error(err)
	}
}

// Consul leaves keys out of a list that the token may not read. The result says which keys were not seen.
func TestTenantsThatTheTokenMayNotRead(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 1, consultest.ACLs)
	servers[0].Ask(t, http.MethodPut, "/v1/kv/vault/core/lock", "x")
	own := `key_prefix "etcdbench/" { policy = "write" } `
	preflight := func(rules string, changes ...func(*plan.Plan)) (*results.Target, error) {
		target, _, err := driverOf(t, planFor(servers, append(changes, withToken(servers[0].Token(t, rules)))...), 0).Preflight(bounded(t))
		return target, err
	}
	if target, err := preflight(own); err != nil || len(target.Notes) != 1 || !strings.Contains(target.Notes[0], "nomad/, vault/") {
		t.Errorf("got %+v, %v, wanted a note about both folders", target, err)
	}
	accepts := func(p *plan.Plan) { p.Guard.AcknowledgeControlPlane = true }
	if target, err := preflight(own, accepts); err != nil || len(target.Notes) > 0 {
		t.Errorf("got %+v, %v, wanted no note", target, err)
	}
	_, err := preflight(own + `key_prefix "vault/" { policy = "read" }`)
	wantReason(t, err, results.FailureControlPlaneTarget, "Vault")
	servers[0].Ask(t, http.MethodDelete, "/v1/kv/vault/?recurse", "")
	if target, err := preflight(own + `key_prefix "vault/" { policy = "read" } key_prefix "nomad/" { policy = "read" }`); err != nil || len(target.Notes) > 0 {
		t.Errorf("got %+v, %v, wanted no note", target, err)
	}
}

// A Consul that serves TLS, with a certificate of an authority that the run has. Both sides may expect the other protocol.
func TestTLS(t *testing.T) {
	t.Parallel()
	authority := etcdtest.NewAuthority(t)
	dir := authority.SecretDir(t)
	cert, key, err := authority.Issue(certificates.Holder{Name: "server", Hosts: []string{"consul.example"}})
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range map[string][]byte{"server.crt": cert, "server.key": key} {
		if err := os.WriteFile(path(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	servers := consultest.Start(t, 1, fmt.Sprintf(`{"ports": {"https": 8501}, "cert_file": %q, "key_file": %q, "ca_file": %q, "verify_incoming_https": true}`, path("server.crt"), path("server.key"), path(plan.CAFile)))
	host, _, _ := strings.Cut(servers[0].Endpoint, ":")
	withTLS := func(port string) func(*plan.Plan) {
		return func(p *plan.Plan) {
			p.Target.TLS = &plan.TLS{Dir: dir, SecretName: "certs", ServerName: "consul.example"}
			p.Target.Endpoints = []string{host + ":" + port}
		}
	}
	if _, succeeded, failed := sums(run(t, planFor(servers, withTLS("8501")))); succeeded != 1_500 || failed > 0 {
		t.Errorf("%d succeeded and %d failed", succeeded, failed)
	}
	_, _, err = driverOf(t, planFor(servers, withTLS("8500")), 0).Preflight(bounded(t))
	wantReason(t, err, results.FailureTLSFailed, "does not speak TLS")
	_, _, err = driverOf(t, planFor(servers, func(p *plan.Plan) { p.Target.Endpoints = []string{host + ":8501"} }), 0).Preflight(bounded(t))
	wantReason(t, err, results.FailureTLSFailed, "serves TLS")
}
