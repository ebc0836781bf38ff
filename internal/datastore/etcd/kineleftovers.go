package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// removeFromKine is Remove for kine.
func (l *Leftovers) removeFromKine(ctx context.Context, client *clientv3.Client, old Leftover) (done Removal, err error) {
	c, r := kineClient{kubernetes.Client{Client: client}}, remover{old: old}
	var left int64
	check := func(ctx context.Context) error {
		now, err := l.look(ctx, client, old.Prefix)
		if err == nil && !now.hasSameOwner(old) {
			err = ErrChanged
		}
		left = now.Keys
		return err
	}
	var pods, marker []*mvccpb.KeyValue
	done.Keys, err = c.deletePages(ctx, old.Prefix, clientv3.GetPrefixRangeEnd(old.Prefix), check, func(kv *mvccpb.KeyValue) bool {
		switch key := string(kv.Key); {
		case key == markerOf(old.Prefix):
			marker = append(marker, kv)
			return false
		case r.isLast(key):
			pods = append(pods, kv)
			return false
		case r.isOfRun(kv):
			return true
		}
		done.Foreign++
		return false
	})
	if err != nil || done.Foreign > 0 {
		return done, err
	}
	last := append(pods, marker...)
	if err := check(ctx); err != nil {
		return done, err
	}
	if left > int64(len(last)) {
		return done, ErrChanged
	}
	// The marker is last.
	for _, kv := range last {
		if err := c.delete(ctx, string(kv.Key), kv.ModRevision); err != nil {
			return done, err
		}
		done.Keys++
	}
	return done, nil
}
