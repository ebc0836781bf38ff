package etcdtool

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// refused is the value of a flag without an equivalent.
type refused struct {
	advice string
	given  bool
}

// Set implements pflag.Value.
func (r *refused) Set(string) error {
	r.given = true
	return nil
}

// String implements pflag.Value.
func (*refused) String() string { return "" }

// Type implements pflag.Value.
func (*refused) Type() string { return "" }

// refuse defines a flag that is refused. advice says why, and what to do instead.
func refuse(set *pflag.FlagSet, name, advice string) {
	// A flag may also be given without a value.
	set.VarPF(&refused{advice: advice}, name, "", "not supported: "+advice).NoOptDefVal = "true"
	_ = set.MarkHidden(name)
}

// refusal returns the error of the first flag that is given and has no equivalent.
func refusal(set *pflag.FlagSet) error {
	var all []error
	set.Visit(func(f *pflag.Flag) {
		if r, is := f.Value.(*refused); is && r.given {
			all = append(all, fmt.Errorf("--%s: %s", f.Name, r.advice))
		}
	})
	return slices.Concat(all, []error{nil})[0]
}
