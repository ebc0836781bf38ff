package plan

import (
	"strings"
	"testing"
)

func TestDisturbancesThatCannotBeMade(t *testing.T) {
	compact, defragment := Disturbance{Kind: DisturbanceCompact, EverySeconds: 5, KeepRevisions: 10}, Disturbance{Kind: DisturbanceDefragment, EverySeconds: 1}
	tests := map[string]struct {
		disturbances []Disturbance
		allowed      bool
		// want is a part of the message, empty if the plan is good.
		want string
	}{
		"none":                         {nil, false, ""},
		"both":                         {[]Disturbance{compact, defragment}, true, ""},
		"not allowed to compact":       {[]Disturbance{compact}, false, "guard.allowStoreWide"},
		"not allowed to defragment":    {[]Disturbance{defragment}, false, "guard.allowStoreWide"},
		"twice":                        {[]Disturbance{compact, compact}, true, "each kind once"},
		"an unknown kind":              {[]Disturbance{{Kind: "Reboot", EverySeconds: 1}}, true, "disturbances.kind"},
		"without a pause":              {[]Disturbance{{Kind: DisturbanceCompact}}, true, "disturbances.everySeconds"},
		"less than nothing kept":       {[]Disturbance{{Kind: DisturbanceCompact, EverySeconds: 1, KeepRevisions: -1}}, true, "disturbances.keepRevisions"},
		"revisions of a fragmentation": {[]Disturbance{{Kind: DisturbanceDefragment, EverySeconds: 1, KeepRevisions: 1}}, true, "disturbances.keepRevisions"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			p.Disturbances, p.Guard.AllowStoreWide = tc.disturbances, tc.allowed
			switch err := p.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
