package remote

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

const (
	// shortAttempt bounds the attempts that begin again and again, so that one that hangs does not hide a recovery.
	shortAttempt = time.Second
	// betweenAttempts is the pause between two of them.
	betweenAttempts = 500 * time.Millisecond
)

// Answered asks all addresses, again and again, until one of them answers or ctx ends. Each address is asked in two
// ways at the same time: with short attempts, and with attempts that wait for a slow answer until ctx ends.
func Answered(ctx context.Context, endpoints []string, ask func(ctx context.Context, endpoint string) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var answered atomic.Bool
	var asking sync.WaitGroup
	for _, endpoint := range endpoints {
		for _, attempt := range []func() (context.Context, context.CancelFunc){
			func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, shortAttempt) },
			func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
		} {
			asking.Go(func() {
				for ctx.Err() == nil {
					bounded, end := attempt()
					if ask(bounded, endpoint) {
						answered.Store(true)
						cancel()
					}
					end()
					_ = load.Pause(ctx, betweenAttempts)
				}
			})
		}
	}
	asking.Wait()
	return answered.Load()
}
