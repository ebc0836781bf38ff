package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// A put of the preload is tried up to this often, with growing pauses: a leader election must not fail a run that has
// not begun. Writing the same value twice is harmless, and each attempt is counted.
const (
	preloadAttempts = 5
	preloadPause    = 200 * time.Millisecond
)

// preload sends this pod's share of the preload with all its clients: the operations whose number is the pod's index
// modulo pods.
func preload(ctx context.Context, clients []*client, part plan.Part, operations int64, done *work) error {
	ctx, cancel := context.WithCancelCause(WithPhase(ctx, results.PhasePreload))
	defer cancel(nil)
	var next atomic.Int64
	count := workload.CountModulo(operations, part.Pods, part.Index)
	done.begin(count)
	var writing sync.WaitGroup
	for _, c := range clients {
		writing.Go(func() {
			for k := next.Add(1) - 1; k < count && ctx.Err() == nil; k = next.Add(1) - 1 {
				if err := c.preload(ctx, part.Number(k)); err != nil {
					cancel(err)
				}
				done.done.Add(1)
			}
		})
	}
	writing.Wait()
	return context.Cause(ctx)
}

// work counts work with a known total. The zero value is none.
type work struct {
	done, total, since atomic.Int64
}

func (w *work) begin(total int64) {
	w.since.Store(int64(Now()))
	w.total.Store(total)
}

func (w *work) counts() results.Work {
	total := w.total.Load()
	if total == 0 {
		return results.Work{}
	}
	return results.Work{Done: uint64(w.done.Load()), Total: uint64(total), Since: Instant(w.since.Load()).Wall()}
}

func (c *client) preload(ctx context.Context, number int64) error {
	return c.write(ctx, c.workload.Preload(number))
}

// write sends an operation of the preload until it has succeeded.
func (c *client) write(ctx context.Context, op workload.Operation) error {
	for attempt := 1; ; attempt++ {
		c.prepare(op)
		c.transmit(ctx)
		if c.response.Succeeded() || (attempt > 1 && c.isGranted(op)) {
			return nil
		}
		if attempt == preloadAttempts {
			return Errorf(results.FailureTargetUnhealthy, "preloading %s failed %d times, the last time with %s: %s",
				c.subject(op), attempt, c.response.Code, c.response.Detail)
		}
		if err := Pause(ctx, time.Duration(attempt)*preloadPause); err != nil {
			return err
		}
	}
}

// isGranted reports whether a lease that this client tried to grant exists. Unlike a key, a lease cannot be written
// twice.
func (c *client) isGranted(op workload.Operation) bool {
	return op.Subject == workload.OnLease && c.response.Code == CodeFailedPrecondition
}
