package refused

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// Flag is a flag that is refused.
type Flag struct {
	Name, Shorthand string
	// Advice says what to do instead.
	Advice string
	// Harmless is the value that asks for what is done anyway, so that it is accepted; empty if there is none.
	Harmless string
	// Switch: the flag may be given without a value. Else the next argument is its value.
	Switch bool
}

// Define defines a flag that is refused with every value and without one.
func Define(set *pflag.FlagSet, name, advice string) {
	Flag{Name: name, Advice: advice, Switch: true}.Define(set)
}

// Define defines the flag, unless the set has one of that name.
func (f Flag) Define(set *pflag.FlagSet) {
	if set.Lookup(f.Name) != nil {
		return
	}
	defined := set.VarPF(&value{Flag: f}, f.Name, f.Shorthand, "not supported: "+f.Advice)
	defined.Hidden = true
	if f.Switch {
		defined.NoOptDefVal = "true"
	}
}

// value is the value of a refused flag.
type value struct {
	Flag
	given bool
}

// Set implements pflag.Value.
func (v *value) Set(text string) error {
	v.given = v.Harmless == "" || text != v.Harmless
	return nil
}

// String implements pflag.Value.
func (*value) String() string { return "" }

// Type implements pflag.Value.
func (*value) Type() string { return "" }

// Is reports whether a flag is refused.
func Is(f *pflag.Flag) bool {
	_, is := f.Value.(*value)
	return is
}

// First returns the error of the first refused flag that is given, or nil.
func First(set *pflag.FlagSet) error {
	var all []error
	set.Visit(func(f *pflag.Flag) {
		if v, is := f.Value.(*value); is && v.given {
			all = append(all, fmt.Errorf("--%s: %s", f.Name, v.Advice))
		}
	})
	return slices.Concat(all, []error{nil})[0]
}
