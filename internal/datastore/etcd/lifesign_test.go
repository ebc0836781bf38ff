package etcd

import (
	"context"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A pod that sends nothing changes its key, and only that one.
func TestALivePodShowsThatItLives(t *testing.T) {
	cluster, client := oneMember(t)
	d := newDriver(t, planFor(cluster.Endpoints), 0)
	if err := d.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	d.endBeat()
	ctx := withTimeout(t)
	changes := client.Watch(ctx, ownPrefix, clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-changes
	control, err := d.controlClient(ctx)
	if err != nil {
		t.Fatal(err)
	}
	d.beat(20*time.Millisecond, func(ctx context.Context, sign lifeSign) { d.beatOnce(ctx, control, sign) })
	for range 3 {
		change := <-changes
		if len(change.Events) != 1 || string(change.Events[0].Kv.Key) != d.podKey() || change.Events[0].Type != clientv3.EventTypePut {
			t.Fatalf("got %+v", change.Events)
		}
	}
	if _, err := d.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if left := keysUnder(t, client, ownPrefix); len(left) > 0 {
		t.Errorf("keys are left: %v", left)
	}
}

// A pod that has given up its key, or lost its prefix, writes nothing.
func TestABeatNeverBringsAKeyBack(t *testing.T) {
	cluster, client := oneMember(t)
	for name, remove := range map[string]func(d *Driver) string{
		"the pod's key": func(d *Driver) string { return d.podKey() },
		"the marker":    func(d *Driver) string { return d.markerKey() },
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
			control, err := d.controlClient(ctx)
			if err != nil {
				t.Fatal(err)
			}
			d.beatOnce(ctx, control, lifeSign{Began: time.Unix(1, 0), Seen: time.Unix(2, 0)})
			if after := keysUnder(t, client, ownPrefix); len(after) != len(before) || after[d.podKey()] != before[d.podKey()] {
				t.Errorf("wanted %v, got %v", before, after)
			}
			if _, err := client.Delete(ctx, ownPrefix, clientv3.WithPrefix()); err != nil {
				t.Fatal(err)
			}
		})
	}
}
