package ownership

import (
	"context"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// lookEvery is the interval at which a driver checks for a change that another pod, or the store, makes.
	lookEvery = 250 * time.Millisecond
	// releaseTimeout is how long a pod waits for another pod to release the prefix. The other pod may be slow or dead.
	// If the operator knows that a pod is dead, it tells the others, and this wait ends earlier.
	releaseTimeout = 4 * time.Minute
	// deletedAtLeast is the lowest expected rate, in keys or leases per second, at which the last pod deletes.
	deletedAtLeast = 2000
)

var errOthersWrite = load.Errorf(results.FailureTimedOut, "timed out waiting for the other client pods: they still use the prefix, or ended before they deleted the keys")

// awaitDeleted waits until the last pod has deleted the run's keys and leases. keys is their number. progress returns
// whether they are deleted, and if not, how many pods may still write.
func awaitDeleted(ctx context.Context, keys int64, progress func(context.Context) (deleted bool, writers int64, err error)) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	writers, until := int64(-1), time.Time{}
	for {
		deleted, now, err := progress(ctx)
		if err != nil || deleted {
			return err
		}
		if now != writers {
			writers, until = now, time.Now().Add(timeoutWith(now, keys))
		}
		if time.Now().After(until) {
			return errOthersWrite
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// timeoutWith returns how long to wait for a change while this many pods may write.
func timeoutWith(writers, keys int64) time.Duration {
	if writers > 0 {
		return releaseTimeout
	}
	return releaseTimeout + time.Duration(keys)*time.Second/deletedAtLeast
}
