package etcd

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// How API servers let events expire: after an hour, by a lease that all events of
// a minute share, up to a thousand.
const (
	eventTTL        = time.Hour
	eventLeaseReuse = time.Minute
	eventsPerLease  = 1000
)

// eventLease is the lease of the newest events. Whoever needs another one grants
// it, and the others wait, as in an API server.
type eventLease struct {
	plan plan.Plan

	mutex sync.Mutex
	// next is the number of the next lease: those of a pod are its index modulo
	// pods.
	next     int64
	id       clientv3.LeaseID
	granted  time.Time
	attached int
}

// get returns the lease for one more event.
func (l *eventLease) get(ctx context.Context, client *clientv3.Client) (clientv3.LeaseID, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.attached++; l.id != 0 && l.attached <= eventsPerLease && time.Since(l.granted) < eventLeaseReuse {
		return l.id, nil
	}
	id := l.plan.LeaseID(workload.LeaseOfClient, l.next)
	// A grant whose answer was lost may have taken the ID.
	l.next += int64(l.plan.Pods())
	ttl := int64((eventTTL + eventLeaseReuse).Seconds())
	if _, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: id, TTL: ttl}); err != nil {
		return 0, err
	}
	l.id, l.granted, l.attached = clientv3.LeaseID(id), time.Now(), 1
	return l.id, nil
}
