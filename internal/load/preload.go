package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A put of the preload is tried this often, with a growing pause between the
// tries: a leader election must not end a run that has not begun. Writing the
// same value twice is harmless, and each attempt is counted.
const (
	preloadAttempts = 5
	preloadPause    = 200 * time.Millisecond
)

// preload writes this pod's share of the key space with all its clients: the
// keys whose number is the pod's index modulo pods.
func preload(ctx context.Context, clients []*client, part plan.Part, keys int64) error {
	ctx, cancel := context.WithCancelCause(WithPhase(ctx, results.PhasePreload))
	defer cancel(nil)
	var next atomic.Int64
	count := plan.CountModulo(keys, part.Pods, part.Index)
	var writing sync.WaitGroup
	for _, c := range clients {
		writing.Go(func() {
			for k := next.Add(1) - 1; k < count && ctx.Err() == nil; k = next.Add(1) - 1 {
				if err := c.preload(ctx, part.Number(k)); err != nil {
					cancel(err)
				}
			}
		})
	}
	writing.Wait()
	return context.Cause(ctx)
}

func (c *client) preload(ctx context.Context, key int64) error {
	for attempt := 1; ; attempt++ {
		c.do(ctx, workload.Operation{Kind: results.OperationPut, Key: key, Value: key})
		if c.response.Succeeded() {
			return nil
		}
		if attempt == preloadAttempts {
			return Errorf(results.FailureTargetUnhealthy, "preloading key %q failed %d times, the last time with %s: %s",
				c.key, attempt, c.response.Code, c.response.Detail)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(attempt) * preloadPause):
		}
	}
}
