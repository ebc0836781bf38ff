package etcd

import (
	"context"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// removeFromKine is Remove for kine. It looks at the marker and at the keys of the pods before each page, and deletes a
// key only at the revision at which it was listed.
func (l *Leftovers) removeFromKine(ctx context.Context, client *clientv3.Client, old Leftover) (done Removal, err error) {
	c, r := kineClient{kubernetes.Client{Client: client}}, remover{old: old}
	end := clientv3.GetPrefixRangeEnd(old.Prefix)
	var marker, pods []*mvccpb.KeyValue
	for from := old.Prefix; ; {
		began := time.Now()
		now, err := l.look(ctx, client, old.Prefix)
		if err != nil {
			return done, err
		}
		if !now.hasSameOwner(old) {
			return done, ErrChanged
		}
		page, err := c.list(ctx, from, end, leftoverPage)
		if err != nil {
			return done, err
		}
		if len(page) == 0 {
			break
		}
		var own []*mvccpb.KeyValue
		for _, kv := range page {
			switch key := string(kv.Key); {
			case key == markerOf(old.Prefix):
				marker = append(marker, kv)
			case r.isLast(key):
				pods = append(pods, kv)
			case r.isOfRun(key):
				own = append(own, kv)
			default:
				done.Foreign++
			}
		}
		if err := c.deleteAll(ctx, own); err != nil {
			return done, err
		}
		done.Keys += int64(len(own))
		from = string(page[len(page)-1].Key) + "\x00"
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return done, err
		}
	}
	if done.Foreign > 0 {
		return done, nil
	}
	left, err := l.look(ctx, client, old.Prefix)
	if err == nil && left.Keys > int64(len(marker)+len(pods)) {
		err = ErrChanged
	}
	for _, some := range [][]*mvccpb.KeyValue{pods, marker} {
		if err == nil {
			err = c.deleteAll(ctx, some)
			done.Keys += int64(len(some))
		}
	}
	return done, err
}
