package results

import (
	"maps"
	"slices"
)

// UnknownShared begins the reason why the figures of a member are unknown that shares its address with others.
const UnknownShared = "its address leads to several members"

// TargetOf returns client pod 0's view of the target, with the addresses and members that any pod found; nil if there is
// none. It skips nil snapshots.
func TargetOf(snapshots []*Snapshot) *Target {
	var t *Target
	for _, s := range snapshots {
		if s != nil {
			t = mergeTargets(t, s.Target)
		}
	}
	return t.located()
}

// located returns the target with an address for each member that answered the load. It leaves out what was measured at
// an address without knowing which member was there.
func (t *Target) located() *Target {
	if t == nil || len(t.AnsweredBy) == 0 || len(t.Members) == 0 {
		return t
	}
	out := *t
	out.Members = slices.Clone(t.Members)
	for i := range out.Members {
		m := &out.Members[i]
		if m.Endpoint == "" {
			m.Endpoint = t.addressOf(m.ID)
			if m.Endpoint != "" && m.Window != nil {
				m.Window = &MemberWindow{Unknown: UnknownShared + ", so its metrics could not be read"}
			}
		}
		if len(t.At(m.Endpoint)) > 1 {
			m.Window = m.Window.Without(FigurePings, FigurePingShortestSeconds, FigurePingMedianSeconds, FigurePingLongestSeconds)
		}
	}
	return &out
}

// addressOf returns the first address at which a member answered.
func (t *Target) addressOf(id string) string {
	for _, address := range slices.Sorted(maps.Keys(t.AnsweredBy)) {
		if slices.Contains(t.AnsweredBy[address], id) {
			return address
		}
	}
	return ""
}

// At returns the IDs of the members to which an address leads, sorted: those that answered the load there, and the one that
// client pod 0 found there before.
func (t *Target) At(address string) []string {
	ids := slices.Clone(t.AnsweredBy[address])
	for _, m := range t.Members {
		if m.Endpoint == address {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// IsLoaded reports whether a member answered requests of the load. known: at least one member did.
func (t *Target) IsLoaded(id string) (loaded, known bool) {
	return t.addressOf(id) != "", len(t.AnsweredBy) > 0
}

// mergeAnswers returns the union by address.
func mergeAnswers(a, b map[string][]string) map[string][]string {
	if len(a) == 0 {
		return b
	}
	out := maps.Clone(a)
	for address, ids := range b {
		all := slices.Concat(out[address], ids)
		slices.Sort(all)
		out[address] = slices.Compact(all)
	}
	return out
}
