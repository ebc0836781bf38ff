package reach

import (
	"context"
	"errors"
	"time"
)

const (
	// LookEvery is the interval at which a driver checks for a change that another pod, or the
	// store, makes.
	LookEvery = 250 * time.Millisecond
	// releaseTimeout is how long a pod waits for another pod to release the prefix. The
	// other pod may be slow, or dead. Of a pod that is certainly dead the operator tells the
	// others, which ends this wait much earlier.
	releaseTimeout = 4 * time.Minute
	// deletedAtLeast is how many keys or leases per second the last pod is expected to
	// delete at least.
	deletedAtLeast = 2000
)

var errOthersWrite = errors.New("other client pods still hold the prefix, or died before they could delete the keys")

// AwaitDeleted waits until the last pod has deleted what the run wrote: keys is how many
// keys and leases that is. progress returns whether the pod has, and if not, how many pods
// may still write.
func AwaitDeleted(ctx context.Context, keys int64, progress func(context.Context) (deleted bool, writers int64, err error)) error {
	ticker := time.NewTicker(LookEvery)
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

// timeoutWith returns how long to wait for a change while that many pods write.
func timeoutWith(writers, keys int64) time.Duration {
	if writers > 0 {
		return releaseTimeout
	}
	return releaseTimeout + time.Duration(keys)*time.Second/deletedAtLeast
}
