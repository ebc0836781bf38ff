package render

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func TestTheOfferedRateIsNamed(t *testing.T) {
	tests := map[string]struct {
		rate *spec.Rate
		want string
	}{
		"closed": {nil, "closed loop (a client waits for each answer)"},
		"rate":   {&spec.Rate{PerSecond: 5_000, Arrival: spec.ArrivalConstant}, "open loop at 5,000/s (requests follow a schedule)"},
		"random": {&spec.Rate{PerSecond: 5, Arrival: spec.ArrivalPoisson}, "open loop at 5/s, Poisson arrivals (requests follow a schedule)"},
		"ramp":   {&spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 0, ToPerSecond: 1_000}}, "open loop from 0/s to 1,000/s (requests follow a schedule)"},
		"stages": {&spec.Rate{Stages: []spec.RateStage{{PerSecond: 7}, {PerSecond: 9}, {}}}, "open loop in 3 stages of at most 9/s (requests follow a schedule)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := loopText(spec.Load{Rate: tc.rate}); got != tc.want {
				t.Errorf("got %q, wanted %q", got, tc.want)
			}
		})
	}
}
