package plan

import (
	"strings"
	"testing"
)

func TestValuesThatCannotBeMade(t *testing.T) {
	tests := map[string]struct {
		size   int
		values Values
		// want is a part of the message, empty if the plan is good.
		want string
	}{
		"zeros of any length":  {100, Values{ZeroPercent: 100, Spread: 100}, ""},
		"no bytes":             {0, Values{}, ""},
		"by doublings":         {100, Values{Spread: 99, LogUniform: true}, ""},
		"doublings of nothing": {100, Values{Spread: 100, LogUniform: true}, "with logUniform"},
		"too many zeros":       {100, Values{ZeroPercent: 101}, "workload.values.zeroPercent"},
		"less than no zeros":   {100, Values{ZeroPercent: -1}, "workload.values.zeroPercent"},
		"less than no bytes":   {100, Values{Spread: 101}, "workload.values.spread"},
		"longer than they are": {100, Values{Spread: -1}, "workload.values.spread"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			p.Workload.ValueSize, p.Workload.Values = tc.size, tc.values
			switch err := p.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
