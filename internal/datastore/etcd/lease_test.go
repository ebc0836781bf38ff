package etcd

import (
	"context"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

func leasePlan(l spec.Lease) func(*plan.Plan) {
	l.TTLSeconds = 600
	return func(p *plan.Plan) {
		p.FirstLease, p.Workload = 7*workload.LeaseIDs, spec.Workload{Type: spec.WorkloadLease, Lease: &l}
		p.Load.Pods, p.Load.Requests = 2, new(int64(300))
	}
}

// renewals is a workload of renewals of this many leases.
func renewals(leases int64, mode spec.KeepAliveMode) spec.Lease {
	return spec.Lease{Operation: spec.LeaseKeepAlive, KeepAlive: &spec.KeepAlive{Leases: leases, Mode: mode}}
}

// leaseCounts is what etcd's lessor has done.
type leaseCounts struct{ granted, revoked, renewed uint64 }

func lessor(t *testing.T, cluster *etcdtest.Cluster) leaseCounts {
	t.Helper()
	families := metricsOf(t, cluster)
	count := func(name string) uint64 {
		return uint64(families["etcd_debugging_lease_"+name+"_total"].GetMetric()[0].GetCounter().GetValue())
	}
	return leaseCounts{count("granted"), count("revoked"), count("renewed")}
}

// listed returns the leases that etcd has.
func listed(t *testing.T, client *clientv3.Client) []clientv3.LeaseStatus {
	t.Helper()
	all, err := client.Leases(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all.Leases
}

func TestLeasesAreGrantedRenewedAndRevoked(t *testing.T) {
	cluster, client := oneMember(t)
	const requests = 300
	tests := map[string]struct {
		lease     spec.Lease
		transport spec.Transport
		operation spec.Operation
		warmup    int32
		// want counts the load's requests; the warm-up adds n more of each.
		want func(n uint64) leaseCounts
	}{
		"grants": {
			spec.Lease{Operation: spec.LeaseGrant}, spec.TransportClient, spec.OperationLeaseGrant, 1,
			func(n uint64) leaseCounts { return leaseCounts{granted: requests + n, revoked: requests + n} },
		},
		"grants over Fast": {
			spec.Lease{Operation: spec.LeaseGrant}, spec.TransportFast, spec.OperationLeaseGrant, 1,
			func(n uint64) leaseCounts { return leaseCounts{granted: requests + n, revoked: requests + n} },
		},
		"renewals, each over a new stream": {
			renewals(50, spec.KeepAliveOnce), spec.TransportClient, spec.OperationLeaseKeepAlive, 1,
			func(n uint64) leaseCounts { return leaseCounts{granted: 50, revoked: 50, renewed: requests + n} },
		},
		"renewals over streams that stay open": {
			renewals(50, spec.KeepAliveStream), spec.TransportClient, spec.OperationLeaseKeepAlive, 1,
			func(n uint64) leaseCounts { return leaseCounts{granted: 50, revoked: 50, renewed: requests + n} },
		},
		"revocations": {
			spec.Lease{Operation: spec.LeaseRevoke}, spec.TransportClient, spec.OperationLeaseRevoke, 0,
			func(uint64) leaseCounts { return leaseCounts{granted: requests, revoked: requests} },
		},
		"revocations over Fast": {
			spec.Lease{Operation: spec.LeaseRevoke}, spec.TransportFast, spec.OperationLeaseRevoke, 0,
			func(uint64) leaseCounts { return leaseCounts{granted: requests, revoked: requests} },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := lessor(t, cluster)
			p := planFor(cluster.Endpoints, leasePlan(tc.lease), func(p *plan.Plan) {
				p.Load.WarmupSeconds, p.Load.Transport = tc.warmup, tc.transport
				if tc.lease.Operation == spec.LeaseGrant {
					p.Load.Rate = steady(300)
				}
			})
			s := runAndCompare(t, cluster, client, p)
			after := lessor(t, cluster)
			if n := s.operation(t, tc.operation).Latency.Count(); n != requests {
				t.Errorf("%d requests were measured, wanted %d", n, requests)
			}
			sent := s.merged.Requests[spec.RPC(tc.operation)]
			if sent[results.PhaseMeasured] != requests || (sent[results.PhaseWarmup] > 0) != (tc.warmup > 0) {
				t.Errorf("%v were sent by phase, wanted %d measured", sent, requests)
			}
			got := leaseCounts{after.granted - before.granted, after.revoked - before.revoked, after.renewed - before.renewed}
			if want := tc.want(sent[results.PhaseWarmup]); got != want {
				t.Errorf("etcd did %+v, wanted %+v", got, want)
			}
			if left := listed(t, client); len(left) > 0 {
				t.Errorf("leases are left: %x", left)
			}
		})
	}
}

func TestLeasesLiveAsLongAsThePlanSays(t *testing.T) {
	cluster, client := oneMember(t)
	overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
		p := planFor(cluster.Endpoints, transport, leasePlan(spec.Lease{Operation: spec.LeaseGrant}))
		do(t, connectionOf(t, p), load.Request{Operation: spec.OperationLeaseGrant, Lease: p.FirstLease, Timeout: 5 * time.Second})
		lease, err := client.TimeToLive(t.Context(), clientv3.LeaseID(p.FirstLease))
		if err != nil || lease.GrantedTTL != 600 {
			t.Errorf("the lease is %+v (%v), wanted it to live for 600 s", lease, err)
		}
		if _, err := client.Revoke(t.Context(), clientv3.LeaseID(p.FirstLease)); err != nil {
			t.Error(err)
		}
	})
}

// There is one stream for each client that renews: etcd opens no other, for any number of renewals. A client that comes
// to run after the others have sent all requests has none.
func TestAStreamOfRenewalsStaysOpen(t *testing.T) {
	cluster, client := oneMember(t)
	started := func() uint64 {
		return counterByMethod(t, cluster, "grpc_server_started_total")[spec.RPCLeaseKeepAlive]
	}
	for name, tc := range map[string]struct {
		mode     spec.KeepAliveMode
		min, max uint64
	}{"stream": {spec.KeepAliveStream, 1, 12}, "once": {spec.KeepAliveOnce, 300, 300}} {
		t.Run(name, func(t *testing.T) {
			before := started()
			runAndCompare(t, cluster, client, planFor(cluster.Endpoints, leasePlan(renewals(5, tc.mode))))
			if n := started() - before; n < tc.min || n > tc.max {
				t.Errorf("etcd has started %d streams for 300 renewals of 12 clients, wanted %d to %d", n, tc.min, tc.max)
			}
		})
	}
}

// A stream for one renewal ends with that renewal, not with the load.
func TestAStreamForOneRenewalEndsWithIt(t *testing.T) {
	cluster, _ := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints, leasePlan(renewals(1, spec.KeepAliveOnce))))
	own, err := connect(t, d, 0).Client(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	do(t, own, load.Request{Operation: spec.OperationLeaseGrant, Lease: d.plan.FirstLease, Timeout: 5 * time.Second})
	renewal := load.Request{Operation: spec.OperationLeaseKeepAlive, Lease: d.plan.FirstLease, Timeout: 5 * time.Second}
	var response load.Response
	// One context for all of them, as in a load.
	ctx := load.WithPhase(t.Context(), results.PhaseMeasured)
	for range 20 {
		if own.Do(ctx, &renewal, &response); !response.Succeeded() {
			t.Fatalf("got %+v", response)
		}
	}
	awaitStreamsEnded(t, cluster)
}

func TestTheRenewalOfALeaseThatIsGoneFails(t *testing.T) {
	cluster, _ := oneMember(t)
	for name, mode := range map[string]spec.KeepAliveMode{"once": spec.KeepAliveOnce, "stream": spec.KeepAliveStream} {
		t.Run(name, func(t *testing.T) {
			d := connected(t, planFor(cluster.Endpoints, leasePlan(renewals(1, mode))))
			own, err := connect(t, d, 0).Client(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			renewal := load.Request{Operation: spec.OperationLeaseKeepAlive, Lease: d.plan.FirstLease, Timeout: 5 * time.Second}
			var response load.Response
			own.Do(t.Context(), &renewal, &response)
			if response.Code != "NotFound" || !strings.Contains(response.Detail, "ttlSeconds") {
				t.Errorf("got %+v, wanted that the lease is not found", response)
			}
			grant := load.Request{Operation: spec.OperationLeaseGrant, Lease: d.plan.FirstLease, Timeout: 5 * time.Second}
			do(t, own, grant)
			do(t, own, renewal)
			own.Do(t.Context(), &grant, &response)
			if response.Code != load.CodeFailedPrecondition {
				t.Errorf("a second grant: got %+v, wanted %s", response, load.CodeFailedPrecondition)
			}
			revoke := renewal
			revoke.Operation = spec.OperationLeaseRevoke
			do(t, own, revoke)
		})
	}
}

// The late response to a renewal that timed out must not be taken for the response to another.
func TestARenewalEndsWithItsContext(t *testing.T) {
	cluster, client := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints, leasePlan(renewals(1, spec.KeepAliveStream))))
	own, err := connect(t, d, 0).Client(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	do(t, own, load.Request{Operation: spec.OperationLeaseGrant, Lease: d.plan.FirstLease, Timeout: 5 * time.Second})
	renewal := load.Request{Operation: spec.OperationLeaseKeepAlive, Lease: d.plan.FirstLease, Timeout: 5 * time.Second}
	do(t, own, renewal)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	// The response may be quicker than the timeout, but not each time.
	var response load.Response
	for tries := 0; response.Code != load.CodeCanceled; tries++ {
		response = load.Response{}
		own.Do(ended, &renewal, &response)
		if tries == 100 || response.Code != load.CodeCanceled && !response.Succeeded() {
			t.Fatalf("got %+v, wanted %s", response, load.CodeCanceled)
		}
	}
	do(t, own, renewal)
	if _, err := client.Revoke(t.Context(), clientv3.LeaseID(d.plan.FirstLease)); err != nil {
		t.Error(err)
	}
}

func grant(t *testing.T, c *conn, ids ...int64) {
	t.Helper()
	for _, id := range ids {
		do(t, c, load.Request{Operation: spec.OperationLeaseGrant, Lease: id, Timeout: 5 * time.Second})
	}
}

func TestCleanRevokesTheRunsLeasesAndNoOthers(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, leasePlan(spec.Lease{Operation: spec.LeaseGrant}))
	d := connected(t, p)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	c := connect(t, d, 0)
	foreign := map[clientv3.LeaseID]bool{}
	for _, id := range []int64{p.FirstLease - 1, p.FirstLease + workload.LeaseIDs, 42} {
		grant(t, c, id)
		foreign[clientv3.LeaseID(id)] = true
	}
	for n := range int64(1_200) {
		grant(t, c, p.LeaseID(workload.LeaseOfWindow, n))
	}
	grant(t, c, p.FirstLease, p.LeaseID(workload.LeaseOfClient, 1<<22-1))
	if err := cleanAtOnce(t, newDriver(t, p, 0)); err != nil {
		t.Fatal(err)
	}
	for _, l := range listed(t, client) {
		if !foreign[l.ID] {
			t.Errorf("lease %x is left", l.ID)
		}
		delete(foreign, l.ID)
	}
	if len(foreign) > 0 {
		t.Errorf("leases that are not of the run were revoked: %v", foreign)
	}
}

// While another pod may need its leases, none is revoked, and a run with leases left does not report that it is clean.
func TestLeasesStayWhileAPodMayWrite(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, leasePlan(spec.Lease{Operation: spec.LeaseGrant}))
	d, other := connected(t, p), newDriver(t, p, 1)
	for _, pod := range []*Driver{d, other} {
		if err := pod.Claim(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
	}
	grant(t, connect(t, d, 0), p.FirstLease)
	hasty, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if cleaning, err := d.Release(hasty); err == nil || cleaning != results.CleaningKeysLeft {
		t.Errorf("got %s, %v while a lease is there, wanted %s", cleaning, err, results.CleaningKeysLeft)
	}
	if n := len(listed(t, client)); n != 1 {
		t.Errorf("%d leases are there, wanted the one of a run that goes on", n)
	}
}

// Foreign leases with the run's IDs are left alone, as foreign keys under its prefix are.
func TestClaimLeavesForeignLeasesAlone(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints, leasePlan(spec.Lease{Operation: spec.LeaseGrant}))
	d := connected(t, p)
	grant(t, connect(t, d, 0), p.FirstLease+5)
	wantFailure(t, d.Claim(withTimeout(t)), results.FailurePrefixNotEmpty, "0000000007000005", "left alone")
	if keys := keysUnder(t, client, ownPrefix); len(keys) > 0 {
		t.Errorf("the claim that failed has written %v", keys)
	}
	put(t, client, d.run.Marker(), ownUID)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Errorf("joining the run whose lease it is: %v", err)
	}
}
