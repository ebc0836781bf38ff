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

const (
	ownUID    = "11111111-0000-4000-8000-000000000000"
	otherUID  = "22222222-0000-4000-8000-000000000000"
	ownPrefix = "etcdbench/11111111/"
)

// keySpace is this many keys of eight bytes.
func keySpace(count int64, distribution spec.Distribution) spec.Keys {
	return spec.Keys{Count: count, SizeBytes: 8, Distribution: distribution}
}

var smallValues = spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64}

// planFor is a small plan for a target, without guards. It applies the changes to the plan.
func planFor(endpoints []string, changes ...func(*plan.Plan)) plan.Plan {
	p := plan.Plan{
		Version: plan.Version, RunUID: ownUID, Name: "test/run", TimeoutSeconds: 120,
		Run: workload.Run{
			Prefix:   ownPrefix,
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keySpace(10_000, spec.Sequential), Values: smallValues}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 1, Connections: 3, Clients: 12, Requests: new(int64(2_000)), RequestTimeoutSeconds: 10, Seed: 1,
			},
		},
		Target: plan.Target{Datastore: spec.Etcd, Endpoints: endpoints, Members: spec.MembersAll},
		Guard:  spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

// steady is a constant rate.
func steady(perSecond int64) *spec.Rate {
	return &spec.Rate{PerSecond: perSecond, Arrival: spec.ArrivalConstant}
}

// timed makes a load last this long, at a constant rate.
func timed(l *spec.Load, seconds int32, perSecond int64) {
	l.Requests, l.DurationSeconds, l.Rate = nil, &seconds, steady(perSecond)
}

// newDriver returns a driver that is closed with the test.
func newDriver(t *testing.T, p plan.Plan, index int) *Driver {
	t.Helper()
	d := New(p, index)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("closing the driver: %v", err)
		}
	})
	return d
}

func withTimeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// wantFailure fails the test unless err has this reason and its message contains all names.
func wantFailure(t *testing.T, err error, reason results.FailureReason, names ...string) {
	t.Helper()
	f := load.FailureOf(err)
	if f == nil || f.Reason != reason {
		t.Fatalf("got error %v, wanted one for the reason %s", err, reason)
	}
	for _, name := range names {
		if !strings.Contains(f.Message, name) {
			t.Errorf("message %q does not name %q", f.Message, name)
		}
	}
}

// put writes a key for a test.
func put(t *testing.T, c *clientv3.Client, key, value string) {
	t.Helper()
	if _, err := c.Put(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

// keysUnder returns all keys that begin with a prefix, and their values.
func keysUnder(t *testing.T, c *clientv3.Client, prefix string) map[string]string {
	t.Helper()
	found, err := c.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, kv := range found.Kvs {
		out[string(kv.Key)] = string(kv.Value)
	}
	return out
}

// oneMember starts a cluster of one member and a client of it.
func oneMember(t *testing.T) (*etcdtest.Cluster, *clientv3.Client) {
	t.Helper()
	cluster := etcdtest.Start(t, 1, nil)
	return cluster, cluster.Client(t, "", "")
}
