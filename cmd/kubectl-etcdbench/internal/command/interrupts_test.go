package command

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestHangUpsNeverLeave(t *testing.T) {
	signals := make(chan os.Signal)
	i, release := newInterrupts(signals)
	defer release()
	send := func(s os.Signal) {
		select {
		case signals <- s:
		case <-time.After(patience):
			t.Fatalf("nobody listens any more for %s", s)
		}
	}
	// Once the third is taken, what the second does has been done.
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
	case <-time.After(patience):
		t.Error("an interrupt after it did not leave")
	}
}
