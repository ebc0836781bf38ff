package v1alpha1_test

import (
	"strings"
	"testing"
)

func TestAdmissionOfGuards(t *testing.T) {
	tests := map[string]struct {
		guard string
		// want is a part of the rejection; empty if the guard is good.
		want string
	}{
		"empty":               {`{}`, ""},
		"a share":             {`{maxFreeQuotaPercent: 100}`, ""},
		"all of it":           {`{maxFreeQuotaPercent: 1, acceptWrites: true, acknowledgeControlPlane: true}`, ""},
		"more than the whole": {`{maxFreeQuotaPercent: 101}`, "less than or equal to 100"},
		"rules, by default":   {`{stopOn: {}}`, ""},
		"no rule":             {`{stopOn: {alarm: false}}`, ""},
		"each rule": {`{stopOn: {leaderChange: true, databaseSize: {maxBytes: 1}, errorRatio: {maxPerMillion: 0},
			walFsync: {maxMeanMicroseconds: 10000, forSeconds: 30}}}`, ""},
		"no database at all":    {`{stopOn: {databaseSize: {maxBytes: 0}}}`, "greater than or equal to 1"},
		"a limit is missing":    {`{stopOn: {databaseSize: {}}}`, "maxBytes: Required"},
		"more than all":         {`{stopOn: {errorRatio: {maxPerMillion: 1000001}}}`, "less than or equal to 1000000"},
		"a ratio of no time":    {`{stopOn: {errorRatio: {maxPerMillion: 1, forSeconds: 0}}}`, "greater than or equal to 1"},
		"flushes without limit": {`{stopOn: {walFsync: {forSeconds: 5}}}`, "maxMeanMicroseconds: Required"},
		"flushes in no time":    {`{stopOn: {walFsync: {maxMeanMicroseconds: 0}}}`, "greater than or equal to 1"},
		"a share of 0":          {`{maxFreeQuotaPercent: 0}`, "greater than or equal to 1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, edit{"spec.guard", tc.guard}))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}

func TestGuardsAreImmutable(t *testing.T) {
	some := []edit{{"spec.guard", `{maxFreeQuotaPercent: 10}`}}
	tests := map[string]struct {
		before []edit
		change edit
	}{
		"add":                  {nil, edit{"spec.guard", `{acceptWrites: true}`}},
		"remove":               {some, edit{"spec.guard", ""}},
		"change":               {some, edit{"spec.guard.maxFreeQuotaPercent", `11`}},
		"one more rule":        {some, edit{"spec.guard.stopOn", `{leaderChange: true}`}},
		"acknowledge too late": {some, edit{"spec.guard.acknowledgeControlPlane", `true`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(t, tc.before...)
			if err := create(t, o); err != nil {
				t.Fatal(err)
			}
			apply(t, o, tc.change)
			if err := api.Update(t.Context(), o); err == nil || !strings.Contains(refusal(err), "spec.guard: Invalid value: field is immutable") {
				t.Errorf("wanted a rejection that says that spec.guard is immutable, found: %v", err)
			}
		})
	}
}
