package command

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestHangUpsNeverExitAtOnce(t *testing.T) {
	signals := make(chan os.Signal)
	i, release := newInterrupts(signals)
	defer release()
	send := func(s os.Signal) {
		select {
		case signals <- s:
		case <-time.After(maxWait):
			t.Fatalf("%s was not received", s)
		}
	}
	// Once the third was received, the second was handled.
	for range 3 {
		send(syscall.SIGHUP)
	}
	<-i.end
	if i.leave.Err() != nil {
		t.Error("a second hang-up left the run")
	}
	send(os.Interrupt)
	select {
	case <-i.leave.Done():
	case <-time.After(maxWait):
		t.Error("an interrupt after it did not leave")
	}
}
