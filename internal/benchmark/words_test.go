package benchmark

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func TestTheOfferedRateIsNamed(t *testing.T) {
	tests := map[string]struct {
		rate *v1alpha1.Rate
		want string
	}{
		"closed": {nil, "closed loop"},
		"rate":   {&v1alpha1.Rate{PerSecond: 5_000, Arrival: v1alpha1.ArrivalConstant}, "open loop at 5,000/s"},
		"random": {&v1alpha1.Rate{PerSecond: 5, Arrival: v1alpha1.ArrivalPoisson}, "open loop at 5/s (Poisson)"},
		"ramp":   {&v1alpha1.Rate{Ramp: &v1alpha1.Ramp{FromPerSecond: 0, ToPerSecond: 1_000}}, "open loop from 0/s to 1,000/s"},
		"stages": {&v1alpha1.Rate{Stages: []v1alpha1.RateStage{{PerSecond: 7}, {PerSecond: 9}, {}}}, "open loop in 3 stages of at most 9/s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := loopText(v1alpha1.Load{Rate: tc.rate}); got != tc.want {
				t.Errorf("got %q, wanted %q", got, tc.want)
			}
		})
	}
}
