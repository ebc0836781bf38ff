package command

import (
	"context"
	"os"
	"sync"
	"syscall"
)

// interrupts give signals their meaning. The first asks the command to end, the second to exit at once. A second
// hang-up is ignored: the kernel and the shell both send one when a terminal closes.
type interrupts struct {
	// end is closed by the first signal.
	end chan struct{}
	// leave is cancelled by the second signal.
	leave context.Context
}

// newInterrupts listens until release is called.
func newInterrupts(signals <-chan os.Signal) (i *interrupts, release func()) {
	leave, cancel := context.WithCancel(context.Background())
	i = &interrupts{end: make(chan struct{}), leave: leave}
	released := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() { i.listen(signals, cancel, released) })
	return i, func() {
		close(released)
		listening.Wait()
		cancel()
	}
}

func (i *interrupts) listen(signals <-chan os.Signal, leave context.CancelFunc, released <-chan struct{}) {
	end := i.end
	for {
		select {
		case <-released:
			return
		case s := <-signals:
			switch {
			case end != nil:
				close(end)
				end = nil
			case s != syscall.SIGHUP:
				leave()
				return
			}
		}
	}
}

// untilEnd returns a context that the first signal cancels.
func (i *interrupts) untilEnd() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(i.leave)
	go func() {
		select {
		case <-i.end:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
