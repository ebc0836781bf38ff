package plan

import (
	"strings"
	"testing"
)

func TestRatesThatCannotBeRun(t *testing.T) {
	stages := func(seconds int, stages ...Stage) func(*Load) {
		return func(l *Load) { l.Requests, l.DurationSeconds, l.Stages = 0, seconds, stages }
	}
	tests := map[string]struct {
		change func(*Load)
		// want is a part of the message, empty if the plan is good.
		want string
	}{
		"a rate":                  {func(l *Load) { l.RatePerSecond, l.Poisson = 10_000_000, true }, ""},
		"a ramp":                  {stages(5, Stage{0, 100, 5}), ""},
		"stages with a pause":     {stages(5, Stage{10, 10, 2}, Stage{0, 0, 1}, Stage{5, 5, 2}), ""},
		"a rate too high":         {func(l *Load) { l.RatePerSecond = 10_000_001 }, "load.ratePerSecond"},
		"a rate below zero":       {func(l *Load) { l.RatePerSecond = -1 }, "load.ratePerSecond"},
		"chance without a rate":   {func(l *Load) { l.Poisson = true }, "load.poisson"},
		"stages and a rate":       {func(l *Load) { stages(1, Stage{1, 1, 1})(l); l.RatePerSecond = 1 }, "load.stages"},
		"stages that do not add":  {stages(6, Stage{10, 10, 2}, Stage{5, 5, 2}), "load.durationSeconds"},
		"stages without arrivals": {stages(2, Stage{0, 0, 2}), "load.stages"},
		"a stage below zero":      {stages(2, Stage{1, -1, 2}), "load.stages"},
		"a stage without time":    {stages(1, Stage{1, 1, 1}, Stage{1, 1, 0}), "load.stages"},
		"a stage too fast":        {stages(1, Stage{1, 10_000_001, 1}), "load.stages"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p.Load)
			switch err := p.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}

func TestTheWarmUpKeepsTheFirstRate(t *testing.T) {
	for want, l := range map[int64]Load{7: {RatePerSecond: 7}, 3: {Stages: []Stage{{3, 9, 1}, {8, 8, 1}}}, 0: {}} {
		if got := l.WarmupRatePerSecond(); got != want || l.OpenLoop() != (want > 0) {
			t.Errorf("%+v: warm-up at %d per second, open loop: %v; wanted %d", l, got, l.OpenLoop(), want)
		}
	}
}
