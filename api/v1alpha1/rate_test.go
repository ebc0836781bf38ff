package v1alpha1_test

import (
	"strings"
	"testing"
)

// rejection is an edit that makes a good object invalid, and a part of the message with which it is refused.
type rejection struct {
	edit edit
	want string
}

func wantAccepted(t *testing.T, tests map[string]edit) {
	t.Helper()
	for name, e := range tests {
		t.Run(name, func(t *testing.T) {
			if err := create(t, object(t, e)); err != nil {
				t.Errorf("wanted the object to be accepted, found: %v", err)
			}
		})
	}
}

func wantRejected(t *testing.T, tests map[string]rejection) {
	t.Helper()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, tc.edit))
			if err == nil || !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}

func TestRatesAreAccepted(t *testing.T) {
	wantAccepted(t, map[string]edit{
		"poisson":                 {"spec.load", `{requests: 100, rate: {perSecond: 10, arrival: Poisson}}`},
		"a ramp":                  {"spec.load", `{durationSeconds: 10, rate: {ramp: {fromPerSecond: 0, toPerSecond: 100}}}`},
		"a ramp down":             {"spec.load", `{durationSeconds: 10, rate: {ramp: {fromPerSecond: 100, toPerSecond: 0}, arrival: Poisson}}`},
		"stages":                  {"spec.load", `{rate: {stages: [{perSecond: 10, seconds: 5}, {perSecond: 0, seconds: 1}, {perSecond: 1, seconds: 1}]}}`},
		"stages just within time": {"spec.load", `{warmupSeconds: 9, rate: {stages: [{perSecond: 10, seconds: 500}, {perSecond: 10, seconds: 90}]}}`},
	})
}

func TestRatesAreRejected(t *testing.T) {
	wantRejected(t, map[string]rejection{
		"an empty rate":               {edit{"spec.load", `{requests: 100, rate: {}}`}, "load.rate: Invalid value: exactly one of perSecond, ramp and stages"},
		"two rates":                   {edit{"spec.load", `{durationSeconds: 1, rate: {perSecond: 1, ramp: {fromPerSecond: 0, toPerSecond: 1}}}`}, "load.rate: Invalid value: exactly one of perSecond, ramp and stages"},
		"an unknown arrival":          {edit{"spec.load", `{requests: 100, rate: {perSecond: 10, arrival: Uniform}}`}, `supported values: "Constant", "Poisson"`},
		"a ramp of requests":          {edit{"spec.load", `{requests: 100, rate: {ramp: {fromPerSecond: 0, toPerSecond: 1}}}`}, "load.rate.ramp: Invalid value: needs load.durationSeconds"},
		"a flat ramp":                 {edit{"spec.load", `{durationSeconds: 1, rate: {ramp: {fromPerSecond: 5, toPerSecond: 5}}}`}, "set rate.perSecond instead"},
		"a ramp too steep":            {edit{"spec.load", `{durationSeconds: 1, rate: {ramp: {fromPerSecond: 5, toPerSecond: 10000001}}}`}, "less than or equal to 10000000"},
		"stages and requests":         {edit{"spec.load", `{requests: 100, rate: {stages: [{perSecond: 1, seconds: 1}]}}`}, "the seconds of the stages add up to the duration"},
		"stages and a duration":       {edit{"spec.load", `{durationSeconds: 1, rate: {stages: [{perSecond: 1, seconds: 1}]}}`}, "the seconds of the stages add up to the duration"},
		"no stages":                   {edit{"spec.load", `{rate: {stages: []}}`}, "at least 1 items"},
		"a pause at the end":          {edit{"spec.load", `{rate: {stages: [{perSecond: 10, seconds: 1}, {perSecond: 0, seconds: 1}]}}`}, "rate.stages: Invalid value: the last stage must have perSecond above 0"},
		"stages without a request":    {edit{"spec.load", `{rate: {stages: [{perSecond: 0, seconds: 1}]}}`}, "rate.stages: Invalid value: the last stage must have perSecond above 0"},
		"a stage that takes no time":  {edit{"spec.load", `{rate: {stages: [{perSecond: 1, seconds: 0}]}}`}, "greater than or equal to 1"},
		"stages beyond the timeout":   {edit{"spec.load", `{warmupSeconds: 10, rate: {stages: [{perSecond: 10, seconds: 500}, {perSecond: 10, seconds: 90}]}}`}, "must be greater than load.warmupSeconds plus the seconds of load.rate.stages (600 together), found 600 (default 600)"},
		"a rate without a bound":      {edit{"spec.load", `{rate: {perSecond: 1}}`}, "set load.requests or load.durationSeconds, or neither with load.rate.stages: found neither"},
		"a bound without a rate":      {edit{"spec.load", `{clients: 1}`}, "or neither with load.rate.stages"},
		"a ramp beyond the timeout":   {edit{"spec.load", `{durationSeconds: 600, rate: {ramp: {fromPerSecond: 0, toPerSecond: 1}}}`}, "spec.timeoutSeconds: Invalid value: must be greater than load.warmupSeconds plus load.durationSeconds (600 together), found 600 (default 600)"},
		"a rate below the first step": {edit{"spec.load", `{requests: 100, rate: {perSecond: -1}}`}, "greater than or equal to 1"},
	})
}
