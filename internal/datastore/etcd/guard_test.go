package etcd

import (
	"context"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// untouched fails the test if a refused run has written anything.
func untouched(t *testing.T, client *clientv3.Client, revision int64) {
	t.Helper()
	now, err := client.Get(t.Context(), "nothing")
	if err != nil {
		t.Fatal(err)
	}
	if now.Header.Revision != revision {
		t.Errorf("the store is at revision %d, wanted the %d of before the run", now.Header.Revision, revision)
	}
}

func revisionOf(t *testing.T, client *clientv3.Client) int64 {
	t.Helper()
	now, err := client.Get(t.Context(), "nothing")
	if err != nil {
		t.Fatal(err)
	}
	return now.Header.Revision
}

func preflightPasses(t *testing.T, p plan.Plan) *results.Target {
	t.Helper()
	target, _, err := newDriver(t, p, 0).Preflight(withTimeout(t))
	if err != nil {
		t.Fatalf("wanted the preflight to pass, found: %v", err)
	}
	return target
}

func TestPreflightRefusesAControlPlane(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	put(t, client, "/registry", "a neighbour")
	put(t, client, "/registryx/pods", "another")
	preflightPasses(t, planFor(cluster.Endpoints))
	put(t, client, "/registry/pods/kube-system/etcd", "{}")
	before := revisionOf(t, client)
	preflightFails(t, planFor(cluster.Endpoints), results.FailureControlPlaneTarget,
		cluster.Endpoints[0], "/registry/pods/kube-system/etcd", "spec.guard.acknowledgeControlPlane")
	preflightPasses(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Guard.AcknowledgeControlPlane = true }))
	untouched(t, client, before)
}

// The quota is 64 MiB, of which a new database uses almost nothing. A put of 10 KB is expected to take 12 KiB of it.
func TestPreflightRefusesWhatTheQuotaDoesNotHold(t *testing.T) {
	t.Parallel()
	const quota = 64 << 20
	cluster := etcdtest.Start(t, 1, nil, etcdtest.Quota(quota))
	client := cluster.Client(t, "", "")
	before := revisionOf(t, client)
	tests := map[string]struct {
		requests int64
		percent  int32
		refused  bool
	}{
		"well within":       {1000, 50, false},
		"just within":       {2600, 50, false},
		"just above":        {2800, 50, true},
		"within all of it":  {5200, 100, false},
		"above all of it":   {6000, 100, true},
		"above a small one": {1000, 10, true},
		"accepted":          {1 << 40, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, func(p *plan.Plan) {
				p.Workload.Put.Values.SizeBytes, p.Load.Requests = 10_000, &tc.requests
				p.Guard.MaxFreeQuotaPercent, p.Guard.AcceptWrites = tc.percent, tc.percent == 0
			})
			if tc.refused {
				preflightFails(t, p, results.FailureQuotaInsufficient, cluster.Endpoints[0], "67 MB", "spec.guard.acceptWrites")
				return
			}
			target := preflightPasses(t, p)
			if got, want := target.Members[0].QuotaBytes, int64(quota); got != want || target.WriteEstimateBytes == 0 {
				t.Errorf("got a quota of %d and an estimate of %d, wanted %d and the estimate of the plan", got, target.WriteEstimateBytes, want)
			}
		})
	}
	untouched(t, client, before)
}

// The writes of a closed loop's warm-up cannot be estimated. The writes after it can, and are enough to refuse the run.
func TestAWarmUpHidesNothingFromTheQuota(t *testing.T) {
	p := planFor([]string{"unused:1"}, func(p *plan.Plan) {
		p.Guard = spec.Guard{MaxFreeQuotaPercent: 50}
		p.Load.Requests, p.Load.WarmupSeconds = new(int64(100_000_000)), 2
	})
	err := newDriver(t, p, 0).guardQuota(topology{members: []member{{endpoint: "unused:1", quotaBytes: 2 << 30}}})
	wantFailure(t, err, results.FailureQuotaInsufficient, "at least", "unused:1")
}

// A member that does not report a quota, or has none, does not cause a refusal.
func TestAnUnknownQuotaRefusesNothing(t *testing.T) {
	p := planFor([]string{"unused:1"}, func(p *plan.Plan) {
		p.Guard, p.Load.Requests = spec.Guard{MaxFreeQuotaPercent: 1}, new(int64(1<<40))
	})
	d := newDriver(t, p, 0)
	for name, quota := range map[string]int64{"etcd before 3.6": 0, "without one": -1} {
		if err := d.guardQuota(topology{members: []member{{endpoint: "unused:1", state: members.State{DatabaseBytes: 1 << 20}, quotaBytes: quota}}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.guardQuota(topology{members: []member{{endpoint: "a:1", quotaBytes: 1 << 62}, {endpoint: "b:1", state: members.State{DatabaseBytes: 9}, quotaBytes: 8}}}); err == nil {
		t.Error("a member that is beyond its quota was taken")
	}
}

// The estimate is close to the real growth of the database, apart from its other content.
func TestTheWriteEstimateIsNearTheGrowth(t *testing.T) {
	t.Parallel()
	for name, valueSize := range map[string]int32{"small": 256, "middle": 1024, "great": 10_000} {
		t.Run(name, func(t *testing.T) {
			cluster, _ := oneMember(t)
			p := planFor(cluster.Endpoints, func(p *plan.Plan) {
				p.Workload.Put.Values.SizeBytes, p.Load.Requests = valueSize, new(int64(4_000_000/valueSize))
			})
			estimate, _ := p.WriteEstimate()
			grown := growth(t, cluster, p)
			if ratio := float64(estimate) / float64(grown); ratio < 0.6 || ratio > 1.7 {
				t.Errorf("the database grew by %d bytes, %d were expected", grown, estimate)
			}
		})
	}
}

// growth runs a plan and returns how many bytes the database has grown by.
func growth(t *testing.T, cluster *etcdtest.Cluster, p plan.Plan) int64 {
	t.Helper()
	size := func() int64 {
		// Without this commit, the last tenth of a second is not in the database yet.
		cluster.Members[0].Server.KV().Commit()
		return preflightPasses(t, p).Members[0].DatabaseBytes
	}
	before := size()
	runAll(t, p)
	return size() - before
}

// full is an etcd whose quota is used up from its start, and without an alarm.
func full(t *testing.T) (*etcdtest.Cluster, *clientv3.Client) {
	t.Helper()
	cluster := etcdtest.Start(t, 1, nil, etcdtest.Quota(8<<10))
	return cluster, cluster.Client(t, "", "")
}

func noAlarm(t *testing.T, client *clientv3.Client) {
	t.Helper()
	if raised, err := client.AlarmList(withTimeout(t)); err != nil || len(raised.Alarms) > 0 {
		t.Errorf("found %v, %v: wanted no alarm", raised, err)
	}
}

// A write to a full database raises NOSPACE for all users of the target. So the run does not even take the lock.
func TestPreflightRefusesAFullDatabase(t *testing.T) {
	t.Parallel()
	cluster, client := full(t)
	preflightFails(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Guard.AcceptWrites = true }),
		results.FailureQuotaInsufficient, cluster.Endpoints[0], "defragment")
	noAlarm(t, client)
}

// Before 3.6, Status does not have the quota. The metrics of this process would be those of parallel tests, too.
func TestTheQuotaOfAnOldMemberIsKnown(t *testing.T) {
	withoutQuota := func(c *embed.Config) {
		c.GRPCAdditionalServerOptions = append(c.GRPCAdditionalServerOptions, grpc.ChainUnaryInterceptor(
			func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
				response, err := handle(ctx, req)
				if status, ok := response.(*etcdserverpb.StatusResponse); ok {
					status.DbSizeQuota = 0
				}
				return response, err
			}))
	}
	cluster := etcdtest.Start(t, 1, nil, etcdtest.Quota(64<<20), withoutQuota)
	if got := preflightPasses(t, planFor(cluster.Endpoints)).Members[0].QuotaBytes; got != 64<<20 {
		t.Errorf("got a quota of %d bytes, wanted the one in the metrics", got)
	}
	cluster = etcdtest.Start(t, 1, nil, etcdtest.Quota(8<<10), withoutQuota)
	preflightFails(t, planFor(cluster.Endpoints), results.FailureQuotaInsufficient, "defragment")
}
