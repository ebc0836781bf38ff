package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// cleanAtOnce cleans as if the pods' signs of life had stood still.
func cleanAtOnce(t *testing.T, d load.Driver) error {
	t.Helper()
	signs, err := d.Signs(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	return d.Clean(withTimeout(t), signs)
}

// A sign of life changes the pod's key, and only that one. It says how long a request can be in flight.
func TestASignOfLifeChangesThePodsKey(t *testing.T) {
	cluster, client := oneMember(t)
	p := planFor(cluster.Endpoints)
	p.Load.RequestTimeoutSeconds = 7
	d := newDriver(t, p, 0)
	ctx := withTimeout(t)
	if err := d.Claim(ctx); err != nil {
		t.Fatal(err)
	}
	before := keysUnder(t, client, ownPrefix)
	signs := signsOf(t, d)
	if err := d.Sign(ctx); err != nil {
		t.Fatal(err)
	}
	if now := signsOf(t, d); len(now) != 1 || now[d.run.PodKey()] <= signs[d.run.PodKey()] {
		t.Errorf("got the signs %v after %v", now, signs)
	}
	after := keysUnder(t, client, ownPrefix)
	var sign ownership.LifeSign
	if err := json.Unmarshal([]byte(after[d.run.PodKey()]), &sign); err != nil || sign.RequestTimeoutSeconds != 7 || sign.Seen.Before(sign.Began) {
		t.Errorf("got the sign %q, %v", after[d.run.PodKey()], err)
	}
	if len(after) != len(before) || after[d.run.Marker()] != before[d.run.Marker()] {
		t.Errorf("wanted %v, got %v", before, after)
	}
	if _, err := d.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

func signsOf(t *testing.T, d load.Driver) map[string]int64 {
	t.Helper()
	signs, err := d.Signs(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	return signs
}

// A pod that was given up, or whose run has lost its prefix, learns that and writes nothing.
func TestASignNeverBringsAKeyBack(t *testing.T) {
	cluster, client := oneMember(t)
	for name, remove := range map[string]func(d *Driver) string{
		"the pod's key": func(d *Driver) string { return d.run.PodKey() },
		"the marker":    func(d *Driver) string { return d.run.Marker() },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, planFor(cluster.Endpoints), 0)
			ctx := withTimeout(t)
			if err := d.Claim(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Delete(ctx, remove(d)); err != nil {
				t.Fatal(err)
			}
			before := keysUnder(t, client, ownPrefix)
			if err := d.Sign(ctx); !errors.Is(err, load.ErrDisowned) {
				t.Errorf("got %v, wanted %v", err, load.ErrDisowned)
			}
			if after := keysUnder(t, client, ownPrefix); len(after) != len(before) || after[d.run.PodKey()] != before[d.run.PodKey()] {
				t.Errorf("wanted %v, got %v", before, after)
			}
			if _, err := client.Delete(ctx, ownPrefix, clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A target that answers and refuses is told apart from one that does not answer.
func TestARefusedSign(t *testing.T) {
	cluster, client := oneMember(t)
	d := newDriver(t, planFor(cluster.Endpoints), 0)
	ctx := withTimeout(t)
	if err := d.Claim(ctx); err != nil {
		t.Fatal(err)
	}
	raise(t, cluster, client)
	if err := d.Sign(ctx); !errors.Is(err, load.ErrRefused) {
		t.Errorf("got %v, wanted %v", err, load.ErrRefused)
	}
	if _, err := client.AlarmDisarm(ctx, &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithTimeout(ctx, time.Nanosecond)
	defer cancel()
	if err := d.Sign(over); err == nil || errors.Is(err, load.ErrRefused) || errors.Is(err, load.ErrDisowned) {
		t.Errorf("got %v without an answer", err)
	}
	if err := d.Sign(ctx); err != nil {
		t.Errorf("after the alarm: %v", err)
	}
	if _, err := d.Release(ctx); err != nil {
		t.Fatal(err)
	}
}

// Load that is too much for a target, and an outage of the database behind kine, pass.
func TestASignThatIsNotRefusedForGood(t *testing.T) {
	etcd, kine := &Driver{}, &Driver{hidesOutages: true}
	for name, tc := range map[string]struct {
		d       *Driver
		err     error
		refused bool
	}{
		"overloaded":     {etcd, rpctypes.ErrGRPCRequestTooManyRequests, false},
		"no database":    {kine, status.Error(codes.Unknown, "dial tcp: connection refused"), false},
		"unknown":        {etcd, status.Error(codes.Unknown, "?"), true},
		"full":           {etcd, rpctypes.ErrGRPCNoSpace, true},
		"not permitted":  {kine, rpctypes.ErrGRPCPermissionDenied, true},
		"without leader": {etcd, rpctypes.ErrGRPCNoLeader, false},
	} {
		if err := tc.d.signError(tc.err); errors.Is(err, load.ErrRefused) != tc.refused {
			t.Errorf("%s: got %v, wanted a refusal: %v", name, err, tc.refused)
		}
	}
}

// The cleanup deletes nothing if a pod has signed since its signs were looked at.
func TestTheCleanupSparesARunWhosePodLives(t *testing.T) {
	cluster, client := oneMember(t)
	d, cleaner := newDriver(t, planFor(cluster.Endpoints), 1), newDriver(t, planFor(cluster.Endpoints), 0)
	ctx := withTimeout(t)
	if err := d.Claim(ctx); err != nil {
		t.Fatal(err)
	}
	put(t, client, ownPrefix+"00000001", "x")
	signs := signsOf(t, cleaner)
	if err := d.Sign(ctx); err != nil {
		t.Fatal(err)
	}
	before := keysUnder(t, client, ownPrefix)
	for name, old := range map[string]map[string]int64{"an older sign": signs, "no sign": nil} {
		err := cleaner.Clean(ctx, old)
		wantFailure(t, err, results.FailurePodStillWrites, ownership.PodsFolder)
		if after := keysUnder(t, client, ownPrefix); len(after) != len(before) {
			t.Errorf("%s: wanted %v, got %v", name, before, after)
		}
	}
	if err := cleaner.Clean(ctx, signsOf(t, cleaner)); err != nil {
		t.Fatal(err)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
	if err := d.Sign(ctx); !errors.Is(err, load.ErrDisowned) {
		t.Errorf("the pod that was given up signs: %v", err)
	}
}
