package load

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// disturbFor makes disturbances every two seconds over a window of some length. take determines how long each lasts. It
// returns the results.
func disturbFor(t *testing.T, window time.Duration, take func(ctx context.Context, number int) error) *results.Disturbance {
	t.Helper()
	number := 0
	driver := &fakeDriver{hook: func(ctx context.Context, _ string) error {
		number++
		return take(ctx, number)
	}}
	d := &disturber{source: driver, plans: []spec.Disturbance{{Type: spec.DisturbanceCompact, EverySeconds: 2}}}
	start := Now()
	s := newLoadPhase(results.PhaseMeasured, workload.Measured, plan.Part{}, nil, nil, start, start.Add(window), unlimited)
	defer s.close()
	d.begin(t.Context(), s, always())
	waitFor(t.Context(), start.Add(window), nil)
	d.end()
	return d.results()[spec.DisturbanceCompact]
}

func marksAt(took time.Duration, after ...time.Duration) (out []results.Mark) {
	for _, a := range after {
		out = append(out, results.Mark{After: a, Took: took, Member: "a"})
	}
	return out
}

func disturbing(d time.Duration) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
}

func TestDisturbancesComeInTheirIntervals(t *testing.T) {
	const s = time.Second
	noLeader := func(_ context.Context, number int) error {
		if number == 1 {
			return errors.New("no leader")
		}
		return nil
	}
	cases := map[string]struct {
		window time.Duration
		take   func(context.Context, int) error
		want   *results.Disturbance
	}{
		"short ones":     {7 * s, disturbing(s / 2), &results.Disturbance{Count: 3, Took: 3 * s / 2, Longest: s / 2, Marks: marksAt(s/2, 2*s, 4*s, 6*s)}},
		"long ones":      {10 * s, disturbing(3 * s), &results.Disturbance{Count: 2, LeftOut: 2, Took: 6 * s, Longest: 3 * s, Marks: marksAt(3*s, 2*s, 6*s)}},
		"none in time":   {2*s - 1, disturbing(s), nil},
		"one that fails": {5 * s, noLeader, &results.Disturbance{Count: 2, Failed: 1, Problem: "no leader", Marks: marksAt(0, 2*s, 4*s)}},
		"cut by the window": {5 * s, disturbing(time.Hour), &results.Disturbance{
			Count: 1, Failed: 1, LeftOut: 1, Took: 3 * s, Longest: 3 * s, Problem: stillRunning, Marks: marksAt(3*s, 2*s),
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if diff := cmp.Diff(tc.want, disturbFor(t, tc.window, tc.take)); diff != "" {
					t.Errorf("disturbances (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Only one pod makes disturbances, and only in the measured window.
func TestOnePodDisturbsTheWindow(t *testing.T) {
	t.Parallel()
	p := planOf(func(p *plan.Plan) {
		p.Load.Pods, p.Load.Requests, p.Load.DurationSeconds, p.Load.WarmupSeconds = 2, nil, new(int32(7)), 1
		p.Load.Rate = &spec.Rate{PerSecond: 100, Arrival: spec.ArrivalConstant}
		p.Guard.AllowStoreWide = true
		p.Disturbances = []spec.Disturbance{{Type: spec.DisturbanceCompact, EverySeconds: 4}, {Type: spec.DisturbanceDefragment, EverySeconds: 4}}
	})
	drivers := []*fakeDriver{{}, {}}
	drivers[0].hook = func(ctx context.Context, step string) error {
		if step == string(spec.DisturbanceDefragment) {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	snapshots := runParts(t, p, drivers)
	if d := snapshots[1].Disturbances; d != nil {
		t.Errorf("pod 1 disturbs, too: %+v", d)
	}
	compact, defragment := snapshots[0].Disturbances[spec.DisturbanceCompact], snapshots[0].Disturbances[spec.DisturbanceDefragment]
	if compact == nil || compact.Failed != 0 || compact.Marks[0].After < 4*time.Second || compact.Marks[len(compact.Marks)-1].After >= 7*time.Second {
		t.Errorf("wanted compactions from the fifth second of the window on, got %+v", compact)
	}
	if defragment == nil || defragment.Count != 1 || defragment.Problem != stillRunning {
		t.Errorf("wanted one defragmentation that the window's end cuts off, got %+v", defragment)
	}
}
