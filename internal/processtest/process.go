package processtest

import (
	"os/exec"
	"runtime"
)

// Start starts a program. ended is closed when it has ended.
func Start(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	started, done := make(chan error), make(chan struct{})
	go func() {
		// Linux kills the program when the thread that started it ends, so this goroutine keeps its thread until then.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		endWithThread(cmd)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(done)
	}()
	return done, <-started
}
