package load

import (
	"context"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// loopDriver's connections are served by one loop.
type loopDriver struct {
	fakeDriver
	loop *queueLoop
}

func (d *loopDriver) Connect(context.Context, int) (Conn, error) {
	return &asyncConn{loop: d.loop, answer: quickly}, nil
}

// A pod without exact timers reports that, if the load has a schedule.
func TestAnOpenLoopSaysThatItsTimersAreCoarse(t *testing.T) {
	for name, tc := range map[string]struct {
		load func(*plan.Plan)
		want bool
	}{
		"open loop":   {forOneSecond(50), true},
		"closed loop": {func(*plan.Plan) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &loopDriver{loop: newQueueLoop()}
			defer d.loop.close()
			p := planOf(tc.load, putting)
			s, err := NewSession(Config{Plan: p, Driver: d, Control: newControl()})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := s.Snapshot().CoarsePacing; got != tc.want {
				t.Errorf("coarse: %v, wanted %v", got, tc.want)
			}
		})
	}
}

func TestAnAlarmOfGoIsCoarse(t *testing.T) {
	e, part := newEngine(planOf(forOneSecond(50)), nil, nil, newRecorder(), always()), plan.Part{Pods: 1}
	e.prepare(part, Now())
	defer e.close()
	for name, a := range alarms() {
		e.measured.alarm.close()
		e.measured.alarm = a()
		if want := !e.measured.alarm.exact(); e.isCoarse() != want {
			t.Errorf("%s: coarse is %v, wanted %v", name, !want, want)
		}
	}
}
