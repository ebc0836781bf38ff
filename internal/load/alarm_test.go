package load

import (
	"testing"
	"time"
)

func alarms() map[string]func() alarm {
	return map[string]func() alarm{
		"of this system": newAlarm,
		"portable":       func() alarm { return newTimerAlarm() },
	}
}

func TestAnAlarmIsNeverEarly(t *testing.T) {
	for name, newAlarm := range alarms() {
		t.Run(name, func(t *testing.T) {
			a := newAlarm()
			defer a.close()
			for range 50 {
				until := Now().Add(2 * time.Millisecond)
				a.wait(until)
				if now := Now(); now < until {
					t.Errorf("it rang %v early", until.Sub(now))
				}
			}
			a.wait(Now() - 1)
		})
	}
}

func TestAnInterruptedAlarmDoesNotWait(t *testing.T) {
	for name, newAlarm := range alarms() {
		t.Run(name, func(t *testing.T) {
			a := newAlarm()
			defer a.close()
			rang := make(chan struct{})
			go func() {
				a.wait(Now().Add(time.Hour))
				close(rang)
			}()
			a.interrupt()
			<-rang
			a.interrupt()
			a.wait(Now().Add(time.Hour))
		})
	}
}

func TestInstantsDoNotWrapAround(t *testing.T) {
	if got := Now().Add(time.Duration(never)); got != never {
		t.Errorf("got %d, wanted never", got)
	}
	if d := time.Since(Now().Wall()); d < 0 || d > time.Second {
		t.Errorf("the wall clock of now is %v ago", d)
	}
}
