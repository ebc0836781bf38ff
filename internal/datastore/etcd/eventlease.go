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

// How API servers let events expire: after an hour, by a lease that is shared by all events of a minute, up to a
// thousand.
const (
	eventTTL        = time.Hour
	eventLeaseReuse = time.Minute
	eventsPerLease  = 1000
)

// eventLease is the lease of the newest events. As in an API server, the first event that needs a new lease grants it,
// and the others wait.
type eventLease struct {
	plan plan.Plan

	mutex sync.Mutex
	// next is the number of the next lease: a pod uses the numbers that are its index modulo pods.
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
	// The number is used up even if the grant fails: the grant may have reached etcd and its response may be lost.
	l.next += int64(l.plan.Pods())
	ttl := int64((eventTTL + eventLeaseReuse).Seconds())
	granted, err := leases(client).LeaseGrant(ctx, &etcdserverpb.LeaseGrantRequest{ID: id, TTL: ttl})
	if err != nil {
		return 0, err
	}
	// kine answers with an ID of its own.
	l.id, l.granted, l.attached = clientv3.LeaseID(granted.ID), time.Now(), 1
	return l.id, nil
}
