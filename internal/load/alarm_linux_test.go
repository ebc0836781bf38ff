package load

import (
	"context"
	"os"
	"testing"
	"time"
)

// openAlarms counts this process's timerfds.
func openAlarms(t *testing.T) (n int) {
	t.Helper()
	const files = "/proc/self/fd/"
	entries, err := os.ReadDir(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		// A file that was closed meanwhile has no name.
		if name, err := os.Readlink(files + e.Name()); err == nil && name == "anon_inode:[timerfd]" {
			n++
		}
	}
	return n
}

func TestASleepThatIsCutOffLeavesNoAlarm(t *testing.T) {
	before := openAlarms(t)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := sleepUntil(ctx, Now().Add(time.Hour)); err == nil {
			t.Error("it slept for an hour")
		}
		cancel()
	}
	if left := openAlarms(t) - before; left > 0 {
		t.Errorf("%d alarms are left, wanted none", left)
	}
}

func TestAClientHasOneAlarm(t *testing.T) {
	before, c := openAlarms(t), &client{}
	ctx, cancel := context.WithCancel(t.Context())
	c.waitUntil(ctx, Now())
	if open := openAlarms(t) - before; open != 0 {
		t.Errorf("%d alarms are open for a hold of no time, wanted none", open)
	}
	hold := func() { c.waitUntil(ctx, Now().Add(time.Millisecond)) }
	hold()
	if allocations := testing.AllocsPerRun(100, hold); allocations > 0 {
		t.Errorf("a hold allocates %v times", allocations)
	}
	if open := openAlarms(t) - before; open != 1 {
		t.Errorf("%d alarms are open, wanted one", open)
	}
	cancel()
	c.waitUntil(ctx, Now().Add(time.Hour))
	c.close()
	if left := openAlarms(t) - before; left > 0 {
		t.Errorf("%d alarms are left, wanted none", left)
	}
}

func TestTheAlarmOfLinuxIsExact(t *testing.T) {
	a := newAlarm()
	defer a.close()
	if !a.exact() {
		t.Error("the kernel gave no timer")
	}
}
