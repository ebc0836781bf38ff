package plan

import (
	"errors"
	"fmt"
)

// Values is what values are made of. The zero Values are random bytes of one
// length.
type Values struct {
	// ZeroPercent of the bytes are zero, the others random.
	ZeroPercent int `json:"zeroPercent,omitempty"`
	// Spread is how many bytes a value may be shorter than Workload.ValueSize.
	Spread int `json:"spread,omitempty"`
	// LogUniform gives each doubling of the length the same probability, and not
	// each length.
	LogUniform bool `json:"logUniform,omitempty"`
}

func (w Workload) validateValues() error {
	return errors.Join(
		check(w.ValueSize >= 0, "workload.valueSize", "at least 0", w.ValueSize),
		check(w.Values.ZeroPercent >= 0 && w.Values.ZeroPercent <= 100, "workload.values.zeroPercent", "0 to 100", w.Values.ZeroPercent),
		check(w.Values.Spread >= 0 && w.Values.Spread <= w.ValueSize, "workload.values.spread",
			fmt.Sprintf("0 to %d, the value's length", w.ValueSize), w.Values.Spread),
		check(!w.Values.LogUniform || w.Values.Spread < w.ValueSize, "workload.values.spread",
			fmt.Sprintf("less than %d with logUniform, for an empty value has no double", w.ValueSize), w.Values.Spread),
	)
}
