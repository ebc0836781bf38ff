//go:build stores

package etcd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Tests against a real kine.

// onKine is a small plan of API servers.
func onKine(s *kinetest.Server, changes ...func(*plan.Plan)) plan.Plan {
	p := planFor([]string{s.Endpoint}, func(p *plan.Plan) {
		p.Target.Datastore, p.FirstLease = spec.Kine, workload.LeaseIDs
		p.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Nodes: 50}}
		p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Load.Requests = 3, 3, 6, new(int64(1_001))
		p.Lock = &plan.Lock{WaitSeconds: 60}
	})
	for _, change := range changes {
		change(&p)
	}
	return p
}

// kineOf returns a driver that is closed with the test.
func kineOf(t *testing.T, p plan.Plan, index int) *Kine {
	t.Helper()
	k := NewKine(p, index)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

// create writes a key that does not exist, as kine allows.
func create(t *testing.T, c kineClient, key, value string) {
	t.Helper()
	if done, err := c.put(t.Context(), key, value, 0, kubernetes.PutOptions{}); err != nil || !done {
		t.Fatalf("creating %s: %t, %v", key, done, err)
	}
}

func kineClientOf(t *testing.T, s *kinetest.Server) kineClient {
	t.Helper()
	return kineClient{kubernetes.Client{Client: s.Client(t)}}
}

func TestKineServesARunThatIsCountedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t, "--debug")
	client := server.Client(t)
	before := server.Served()
	p := onKine(server)
	snapshots := runAll(t, p)
	after := server.Served()
	sent, _ := account(snapshots)
	for _, rpc := range []spec.RPC{spec.RPCRange, spec.RPCTxn, spec.RPCStatus, spec.RPCLeaseGrant} {
		if served := after[string(rpc)] - before[string(rpc)]; served != sent[rpc] || served == 0 {
			t.Errorf("%s: kine served %d, the pods count %d", rpc, served, sent[rpc])
		}
	}
	merged := results.Merge(snapshots)
	succeeded := uint64(0)
	for name, o := range merged.Operations {
		if o.Failed.Count() > 0 || o.Lost > 0 {
			t.Errorf("%v: %d failed, %d lost", name, o.Failed.Count(), o.Lost)
		}
		if slices.Contains([]spec.Operation{spec.OperationOptimisticPut, spec.OperationOptimisticDelete, spec.OperationListBy500, spec.OperationListBy10000}, name) {
			succeeded += o.Latency.Count()
		}
	}
	if succeeded != 1_001 {
		t.Errorf("%d requests succeeded, wanted 1,001", succeeded)
	}
	if w := merged.Watch; w.Expected == 0 || w.Missed > 0 {
		t.Errorf("watchers: %+v", w)
	}
	for _, s := range snapshots {
		if s.Cleaning != results.CleaningKeysDeleted || s.Stage != results.StageDone {
			t.Errorf("pod %d ends in %s with %s", s.Index, s.Stage, s.Cleaning)
		}
	}
	if left := keysUnder(t, client, "etcdbench/"); len(left) > 0 {
		t.Errorf("%d keys are left, wanted none, not even a lock: %v", len(left), left)
	}
}

// kine takes the ID of a lease as a time to live.
func TestKineLetsEventsExpire(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	k := kineOf(t, onKine(server), 0)
	if _, _, err := k.Preflight(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	conn, err := k.Connect(withTimeout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	request := load.Request{Operation: spec.OperationOptimisticPut, Key: []byte("event"), Value: []byte("x"), Create: true, Expires: true, Timeout: 10 * time.Second}
	var response load.Response
	conn.Do(withTimeout(t), &request, &response)
	if !response.Succeeded() {
		t.Fatalf("%+v", response)
	}
	kv, err := c.get(t.Context(), "event")
	if err != nil || time.Duration(kv.Lease)*time.Second != eventTTL+eventLeaseReuse {
		t.Errorf("the event has the lease %+v, %v", kv, err)
	}
}

func TestKinePreflightRefuses(t *testing.T) {
	t.Parallel()
	server, used := kinetest.Start(t), kinetest.Start(t)
	server.Client(t)
	create(t, kineClientOf(t, used), "/registry/pods/default/a", "{}")
	etcd := etcdtest.Start(t, 1, nil)
	for name, tc := range map[string]struct {
		endpoints []string
		change    func(*plan.Plan)
		reason    results.FailureReason
		words     []string
	}{
		"the objects of an API server": {[]string{used.Endpoint}, nil, results.FailureControlPlaneTarget, []string{"/registry/pods/default/a"}},
		"two addresses":                {[]string{server.Endpoint, used.Endpoint}, nil, results.FailureTargetUnhealthy, []string{"needs one"}},
		"an etcd":                      {etcd.Endpoints, nil, results.FailureUnsupported, []string{"Etcd"}},
		"kine that is said to be etcd": {[]string{server.Endpoint}, func(p *plan.Plan) { p.Target.Datastore = spec.Etcd }, results.FailureUnsupported, []string{"Kine"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := onKine(server, func(p *plan.Plan) { p.Target.Endpoints = tc.endpoints })
			if tc.change != nil {
				tc.change(&p)
			}
			d := driverOf(p, 0)
			defer d.Close()
			_, _, err := d.Preflight(withTimeout(t))
			wantFailure(t, err, tc.reason, append(tc.words, tc.endpoints...)...)
		})
	}
	acknowledged := kineOf(t, onKine(used, func(p *plan.Plan) { p.Guard.AcknowledgeControlPlane = true }), 0)
	for _, k := range []*Kine{kineOf(t, onKine(server), 0), acknowledged} {
		target, _, err := k.Preflight(withTimeout(t))
		if err != nil || len(target.Members) != 1 || target.Members[0].Name != "kine" || target.Members[0].Version == "" {
			t.Errorf("got %+v, %v", target, err)
		}
	}
}

func TestKineIsReachedByTLS(t *testing.T) {
	t.Parallel()
	authority := etcdtest.NewAuthority(t, "kine.example")
	files := authority.ServerFiles(t)
	server := kinetest.Start(t, "--server-cert-file", files.CertFile, "--server-key-file", files.KeyFile)
	p := onKine(server, withTLS(authority.SecretDir(t), "kine.example"))
	if _, _, err := kineOf(t, p, 0).Preflight(withTimeout(t)); err != nil {
		t.Error(err)
	}
	_, _, err := kineOf(t, onKine(server), 0).Preflight(withTimeout(t))
	wantFailure(t, err, results.FailureTLSFailed, server.Endpoint)
}

// kineUnder is the driver of a run under a prefix.
func kineUnder(t *testing.T, s *kinetest.Server, prefix, uid string) *Kine {
	t.Helper()
	return kineOf(t, onKine(s, func(p *plan.Plan) { p.Prefix, p.RunUID = prefix, uid }), 0)
}

// A refused claim leaves all keys as they were.
func TestKineNoPrefixLiesWithinAnother(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	client := server.Client(t)
	for name, tc := range map[string]struct{ first, second, names string }{
		"the second within the first": {"bench/", "bench/1/", otherUID},
		"deep within the first":       {"bench/", "bench/1/2/3/", otherUID},
		"the first within the second": {"bench/1/", "bench/", otherUID},
		"the same":                    {"bench/1/", "bench/1/", otherUID},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := kineUnder(t, server, tc.first, otherUID), kineUnder(t, server, tc.second, ownUID)
			if err := first.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			before := keysUnder(t, client, "bench/")
			wantFailure(t, second.Claim(withTimeout(t)), results.FailurePrefixNotEmpty, tc.second, tc.names)
			if diff := cmp.Diff(before, keysUnder(t, client, "bench/")); diff != "" {
				t.Errorf("keys after the claim that failed (-want +got):\n%s", diff)
			}
			for _, k := range []*Kine{first, second} {
				if err := k.Claim(withTimeout(t)); err != nil {
					t.Errorf("claiming a free prefix: %v", err)
				}
				if _, err := k.Release(withTimeout(t)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if left := keysUnder(t, client, "bench/"); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// If two runs with nested prefixes claim at once, at most one of them succeeds, and the other one leaves nothing.
func TestKineNestedPrefixesAreNotClaimedAtOnce(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	client := server.Client(t)
	outer, inner := kineUnder(t, server, "bench/", otherUID), kineUnder(t, server, "bench/1/", ownUID)
	for range 20 {
		var claiming sync.WaitGroup
		errs := make([]error, 2)
		for i, k := range []*Kine{outer, inner} {
			claiming.Go(func() { errs[i] = k.Claim(withTimeout(t)) })
		}
		claiming.Wait()
		if errs[0] == nil && errs[1] == nil {
			t.Fatal("both runs have claimed")
		}
		for i, k := range []*Kine{outer, inner} {
			if errs[i] != nil {
				wantFailure(t, errs[i], results.FailurePrefixNotEmpty)
			} else if _, err := k.Release(withTimeout(t)); err != nil {
				t.Error(err)
			}
		}
		if left := keysUnder(t, client, "bench/"); len(left) > 0 {
			t.Fatalf("keys are left: %v", left)
		}
	}
}

// Two runs with nested prefixes have looked for other keys, and then created their markers. Neither goes on.
func TestKineClaimsLookAgain(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	both := []*Kine{kineUnder(t, server, "bench/", otherUID), kineUnder(t, server, "bench/1/", ownUID)}
	for _, k := range both {
		create(t, c, k.driver.markerKey(), k.driver.plan.RunUID+string(markerClaiming))
	}
	refused := 0
	for _, k := range both {
		if err := k.own(withTimeout(t), c); err != nil {
			wantFailure(t, err, results.FailurePrefixNotEmpty)
			refused++
		}
	}
	if left := keysUnder(t, c.Client.Client, "bench/"); refused == 0 || len(left) != 2-refused {
		t.Errorf("%d claims were refused, and the keys are %v", refused, left)
	}
}

// Client pod 0 has died before it had ended its claim. Nothing but the marker is the run's.
func TestKineCleansAClaimThatDidNotEnd(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	k, beside := kineOf(t, p, 0), kineOf(t, p, 1)
	create(t, c, k.driver.markerKey(), ownUID+string(markerClaiming))
	object := objectsOf(p, 1)[0]
	create(t, c, object, "of others")
	if cleaning, err := beside.Release(withTimeout(t)); err == nil || cleaning != results.CleaningKeysLeft {
		t.Errorf("client pod 1 released with %s, %v", cleaning, err)
	}
	if err := k.Clean(withTimeout(t)); err != nil {
		t.Error(err)
	}
	if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) != 1 || left[object] == "" {
		t.Errorf("wanted the key of others alone, found %v", left)
	}
}

// A pod that sweeps after another one has ended the deletion, and the next run has claimed, deletes nothing of that run.
func TestKineSweepsNothingOfTheNextRun(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	slow, next := kineOf(t, p, 1), kineOf(t, onKine(server, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	if err := next.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	object := objectsOf(p, 1)[0]
	create(t, c, object, "of the next run")
	if err := slow.deleteObjects(withTimeout(t), c); err != nil {
		t.Error(err)
	}
	if swept, err := slow.deleteMarker(withTimeout(t), c); err != nil || !swept {
		t.Errorf("swept: %t, %v", swept, err)
	}
	if err := slow.Clean(withTimeout(t)); err != nil {
		t.Error(err)
	}
	if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) != 3 || left[object] == "" {
		t.Errorf("wanted marker, pod and object of the next run, found %v", left)
	}
}

// The other pods of a run wait until client pod 0 has claimed, and leave if the run's keys are being deleted.
func TestKinePodsFollowClientPod0(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	first, second := kineOf(t, p, 0), kineOf(t, p, 1)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := second.Claim(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("client pod 1 did not wait: %v", err)
	}
	if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) > 0 {
		t.Errorf("client pod 1 has written %v", left)
	}
	for _, k := range []*Kine{first, second} {
		if err := k.Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := first.check(t.Context(), c); !errors.Is(err, errNotAlone) {
		t.Errorf("wanted %v while pods may write, found %v", errNotAlone, err)
	}
	third := kineOf(t, p, 2)
	for name, claim := range map[string]func() error{
		"a claim":                        func() error { return third.Claim(withTimeout(t)) },
		"a claim that began just before": func() error { return third.join(withTimeout(t), c) },
	} {
		wantFailure(t, claim(), results.FailurePrefixNotEmpty)
		if _, registered := keysUnder(t, c.Client.Client, p.Prefix)[third.driver.podKey()]; registered {
			t.Errorf("%s that came too late stays registered", name)
		}
	}
	releaseTogether(t, first, second)
	if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

func releaseTogether(t *testing.T, all ...*Kine) {
	t.Helper()
	var releasing sync.WaitGroup
	for _, k := range all {
		releasing.Go(func() {
			if cleaning, err := k.Release(withTimeout(t)); err != nil || cleaning != results.CleaningKeysDeleted {
				t.Errorf("released with %s, %v", cleaning, err)
			}
		})
	}
	releasing.Wait()
}

// Several pods can be the last one at the same time.
func TestKinePodsReleaseAtOnce(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	for range 10 {
		var all []*Kine
		for i := range p.Pods() {
			k := kineOf(t, p, i)
			if err := k.Claim(withTimeout(t)); err != nil {
				t.Fatal(err)
			}
			all = append(all, k)
		}
		for _, key := range objectsOf(p, 20) {
			create(t, c, key, "x")
		}
		releaseTogether(t, all...)
		if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) > 0 {
			t.Fatalf("keys are left: %v", left)
		}
	}
}

// objectsOf returns the keys of a run's first pods.
func objectsOf(p plan.Plan, n int64) (keys []string) {
	writer := p.KeyWriter()
	for i := range n {
		keys = append(keys, string(writer.AppendObject(nil, workload.Pods, i)))
	}
	return keys
}

// The pods are gone, and left objects and their registrations. Keys of others stay, and the marker with them.
func TestKineCleansAfterPodsThatAreGone(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	for i := range p.Pods() {
		if err := kineOf(t, p, i).Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range objectsOf(p, 1_200) {
		create(t, c, key, "x")
	}
	foreign := p.Prefix + "registry/pods/of/others/1"
	create(t, c, foreign, "x")
	cleaner := kineOf(t, p, 0)
	if err := cleaner.Clean(withTimeout(t)); err == nil || !strings.Contains(err.Error(), "left alone") {
		t.Errorf("wanted an error about keys of others, found %v", err)
	}
	left := keysUnder(t, c.Client.Client, p.Prefix)
	if _, marked := left[cleaner.driver.markerKey()]; len(left) != 2 || !marked || left[foreign] == "" {
		t.Errorf("wanted the marker and the key of others, found %d keys: %.300q", len(left), left)
	}
	kv, err := c.get(t.Context(), foreign)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.delete(t.Context(), foreign, kv.ModRevision); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := cleaner.Clean(withTimeout(t)); err != nil {
			t.Error(err)
		}
	}
	if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// The keys are not deleted if the marker has disappeared or names another run.
func TestKineDeletesNothingWithoutItsMarker(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	k := kineOf(t, p, 0)
	if err := k.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	object := objectsOf(p, 1)[0]
	create(t, c, object, "x")
	if err := c.remove(t.Context(), k.driver.markerKey()); err != nil {
		t.Fatal(err)
	}
	create(t, c, k.driver.markerKey(), otherUID+string(markerDeleting))
	_, err := k.Release(withTimeout(t))
	wantFailure(t, err, results.FailurePrefixNotEmpty, k.driver.markerKey(), object)
	wantFailure(t, kineOf(t, p, 0).Clean(withTimeout(t)), results.FailurePrefixNotEmpty, object)
	if left := keysUnder(t, c.Client.Client, p.Prefix); left[object] == "" {
		t.Errorf("the object was deleted: %v", left)
	}
}

// The command that users get for leftovers works with a real etcdctl, and spares what has another owner.
func TestKineLeftoversAreDeletedByTheCommand(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	if err := kineOf(t, p, 0).Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	for _, key := range objectsOf(p, 20) {
		create(t, c, key, "x")
	}
	before := keysUnder(t, c.Client.Client, p.Prefix)
	removeBy := func(o workload.Owner) {
		cmd := exec.CommandContext(withTimeout(t), "bash", "-c", p.RemovalCommand(spec.Kine, o))
		cmd.Env = append(os.Environ(), "PATH="+kinetest.Tools(t)+":"+os.Getenv("PATH"), "ETCDCTL_ENDPOINTS="+server.Endpoint)
		if out, err := cmd.CombinedOutput(); err != nil && o.UID == ownUID {
			t.Errorf("%v: %s", err, out)
		}
	}
	removeBy(workload.Owner{UID: otherUID})
	if diff := cmp.Diff(before, keysUnder(t, c.Client.Client, p.Prefix)); diff != "" {
		t.Errorf("the command of another run has changed keys (-want +got):\n%s", diff)
	}
	removeBy(workload.Owner{UID: ownUID})
	if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

func wantKineHolder(t *testing.T, what string, want load.LockState, look func(context.Context) (load.Holder, error)) load.Holder {
	t.Helper()
	found, err := look(withTimeout(t))
	if err != nil || found.State != want {
		t.Fatalf("%s: got %+v, %v, wanted %s", what, found, err, want)
	}
	return found
}

func TestKineHasOneHolderOfItsLock(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	own, other := onKine(server), onKine(server, func(p *plan.Plan) { p.RunUID, p.Prefix = otherUID, "etcdbench/2/" })
	first, beside, second := kineOf(t, own, 0), kineOf(t, own, 1), kineOf(t, other, 0)
	wantKineHolder(t, "client pod 1 alone", load.Free, beside.Lock)
	wantKineHolder(t, "a free lock", load.Free, first.Look)
	wantKineHolder(t, "taking it", load.Held, first.Lock)
	wantKineHolder(t, "a look at the own lock", load.Free, first.Look)
	wantKineHolder(t, "another pod", load.Held, beside.Lock)
	if h := wantKineHolder(t, "another run looks", load.HeldByOther, second.Look); h.RunUID != ownUID || time.Since(h.Since).Abs() > time.Minute {
		t.Errorf("the holder is %+v", h)
	}
	wantKineHolder(t, "another run", load.HeldByOther, second.Lock)
	wantKineHolder(t, "renewing it", load.Held, first.Lock)
	if err := second.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	wantKineHolder(t, "after the other run's end", load.Held, first.Lock)
	if err := first.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	wantKineHolder(t, "the next run", load.Held, second.Lock)
	// The run that had the lock does not free it again.
	if err := first.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	wantKineHolder(t, "the run before", load.HeldByOther, first.Lock)
	// Of runs that take it at once, one gets it.
	if err := second.Unlock(withTimeout(t)); err != nil {
		t.Error(err)
	}
	for range 10 {
		var locking sync.WaitGroup
		states := make([]load.LockState, 2)
		for i, k := range []*Kine{first, second} {
			locking.Go(func() {
				holder, err := k.Lock(withTimeout(t))
				if err != nil {
					t.Error(err)
				}
				states[i] = holder.State
			})
		}
		locking.Wait()
		slices.Sort(states)
		if diff := cmp.Diff([]load.LockState{load.Held, load.HeldByOther}, states); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for _, k := range []*Kine{first, second} {
			if err := k.Unlock(withTimeout(t)); err != nil {
				t.Error(err)
			}
		}
		if kv, err := c.get(t.Context(), lockKey); err != nil || kv != nil {
			t.Fatalf("the lock stays: %v, %v", kv, err)
		}
	}
}

// A holder that was killed renews nothing. Within 30 s another run gets the lock.
func TestKineFreesTheLockOfAHolderThatIsGone(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	server.Client(t)
	wantKineHolder(t, "taking it", load.Held, kineOf(t, onKine(server), 0).Lock)
	began := time.Now()
	other := kineOf(t, onKine(server, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	ctx := withTimeout(t)
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		holder, err := other.Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if holder.State == load.Held {
			break
		}
		<-again.C
	}
	if took := time.Since(began); took < load.LockTTL-time.Second || took > 30*time.Second {
		t.Errorf("the lock was freed after %v, wanted about %v", took, load.LockTTL)
	}
}

// A run holds its lock again after its kine was frozen for longer than the lock lasts.
func TestKineIsFrozenUnderTheHolder(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	server.Client(t)
	holder := kineOf(t, onKine(server), 0)
	wantKineHolder(t, "taking it", load.Held, holder.Lock)
	resume := server.Pause(t)
	frozen := time.After(load.LockTTL + 5*time.Second)
	<-frozen
	resume()
	wantKineHolder(t, "after the freeze", load.Held, holder.Lock)
	wantKineHolder(t, "after its expiry was noticed", load.Held, holder.Lock)
}

// What a killed run left in kine is found and removed, but for keys that no run writes. A run that lives changes its keys.
func TestKineLeftoversAreListedAndRemoved(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	p := onKine(server)
	k := kineOf(t, p, 0)
	if err := k.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	wantKineHolder(t, "taking the lock", load.Held, k.Lock)
	for _, key := range objectsOf(p, 1_200) {
		create(t, c, key, "x")
	}
	foreign := p.Prefix + "of others"
	create(t, c, foreign, "x")
	l := leftovers(t, []string{server.Endpoint})
	found, err := l.List(withTimeout(t), "etcdbench/")
	if err != nil || len(found) != 1 || found[0].Prefix != p.Prefix || found[0].Owner != ownUID || found[0].Keys != 1_203 || found[0].Seen.IsZero() {
		t.Fatalf("found %+v, %v", found, err)
	}
	k.beatOnce(t.Context(), c, lifeSign{Began: time.Unix(1, 0), Seen: time.Unix(2, 0)})
	if done, err := l.Remove(withTimeout(t), found[0], 0); !errors.Is(err, ErrChanged) || done.Keys > 0 {
		t.Errorf("removed %+v of a run that lives, %v", done, err)
	}
	for _, want := range []Removal{{Keys: 1_200, Foreign: 1}, {Keys: 2}} {
		now, err := l.Look(withTimeout(t), p.Prefix)
		if err != nil || now.IsSame(found[0]) {
			t.Fatalf("found %+v, %v", now, err)
		}
		if done, err := l.Remove(withTimeout(t), now, 0); err != nil || done != want {
			t.Fatalf("removed %+v, %v, wanted %+v", done, err, want)
		}
		if kv, err := c.get(t.Context(), foreign); err != nil {
			t.Fatal(err)
		} else if kv != nil {
			if err := c.delete(t.Context(), foreign, kv.ModRevision); err != nil {
				t.Fatal(err)
			}
		}
	}
	if left := keysUnder(t, c.Client.Client, p.Prefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}
