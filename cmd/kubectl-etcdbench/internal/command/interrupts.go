package command

import (
	"context"
	"os"
	"sync"
	"syscall"
)

// interrupts turn signals into what they mean: the first asks to end, the
// second to leave at once, unless it is a hang-up: of that, kernel and shell
// both tell, and nobody is impatient.
type interrupts struct {
	// end is closed by the first signal.
	end chan struct{}
	// leave ends with the second signal.
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

// untilEnd returns a context that ends with the first signal already.
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
