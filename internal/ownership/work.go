package ownership

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// work is how far a deletion has come.
type work struct {
	mutex sync.Mutex
	done  results.Work
	// keys counts the deleted keys; some may have been missing if their versions were not known. spared are keys of others.
	keys            atomic.Int64
	spared, revoked int64
}

func (w *work) begin(total int64) {
	if total == 0 {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.done = results.Work{Total: uint64(total), Since: time.Now()}
}

func (w *work) reach(done int64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.done.Done = uint64(done)
}

// Deleted implements load.Deleter.
func (o *Ownership) Deleted() results.Work {
	o.work.mutex.Lock()
	defer o.work.mutex.Unlock()
	return o.work.done
}

// beginWork returns a function that waits as long as has passed since: half of the time is left to other users of the
// target.
func beginWork() (rest func(context.Context) error) {
	began := time.Now()
	return func(ctx context.Context) error { return load.Pause(ctx, time.Since(began)) }
}

// together calls do for all, and returns the first error: members agree on many transactions as fast as on one.
func together[T any](ctx context.Context, all []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var doing sync.WaitGroup
	for _, one := range all {
		doing.Go(func() {
			if err := do(ctx, one); err != nil {
				cancel(err)
			}
		})
	}
	doing.Wait()
	return context.Cause(ctx)
}

// Splitter divides work over requests that a server takes. After a request that was too large, the next ones have half as
// much.
type Splitter struct {
	isTooLarge func(error) bool
	// most is 0 without a bound.
	most atomic.Int64
}

// NewSplitter returns a splitter into parts of at most this many, or without a bound for 0.
func NewSplitter(most int64, isTooLarge func(error) bool) *Splitter {
	b := &Splitter{isTooLarge: isTooLarge}
	b.most.Store(most)
	return b
}

// Each calls try for parts of the numbers from 0 to n-1. It may be called by several goroutines.
func (b *Splitter) Each(n int64, try func(from, to int64) error) error {
	for from := int64(0); from < n; {
		most, to := b.most.Load(), n
		if most > 0 {
			to = min(from+most, n)
		}
		err := try(from, to)
		switch {
		case err == nil:
			from = to
		case !b.isTooLarge(err) || to-from == 1:
			return err
		default:
			b.most.CompareAndSwap(most, (to-from)/2)
		}
	}
	return nil
}
