package doctor

import "fmt"

// throttledShare is that of the alert CPUThrottlingHigh.
const throttledShare = 0.25

// Periods counts the periods of a quota of processor time in which a control group had work, and in how many of them it was
// throttled.
type Periods struct {
	All       float64 `json:"periods"`
	Throttled float64 `json:"throttledPeriods"`
}

func (p Periods) share() float64 {
	if p.All == 0 {
		return 0
	}
	return p.Throttled / p.All
}

// Groups are the control groups that limit the processor time of a member, or its containers, by name.
type Groups map[string]Periods

// Since returns what was counted since an earlier look, of the group with the largest share of throttled periods.
func (g Groups) Since(before Groups) (most Periods) {
	for name, now := range g {
		was, known := before[name]
		p := Periods{now.All - was.All, now.Throttled - was.Throttled}
		if known && p.All > 0 && p.Throttled >= 0 && (p.share() > most.share() || most.All == 0) {
			most = p
		}
	}
	return most
}

// Counted reports whether a group has counted any period.
func (g Groups) Counted() bool {
	for _, p := range g {
		if p.All > 0 {
			return true
		}
	}
	return false
}

// Missing is why something cannot be looked at, and what would show it.
type Missing struct{ Why, Needs string }

func throttled(c Cluster) (found []Finding, _ []Undecided) {
	for _, m := range c.answering() {
		if p := m.Throttling; p != nil && p.share() > throttledShare {
			found = append(found, Finding{Members: []string{m.Name}, Message: fmt.Sprintf("%s was throttled in %.0f of %.0f periods (%.0f %%): it used up its quota of processor time.",
				m.Name, p.Throttled, p.All, 100*p.share())})
		}
	}
	return found, nil
}

// unthrottled are members whose throttling cannot be read.
func (c Cluster) unthrottled() (out []Undecided) {
	for _, m := range c.answering() {
		if p := m.ThrottlingUnread; p != nil {
			out = append(out, Undecided{Kind: "Throttled", Member: m.Name, Why: p.Why, Needs: p.Needs})
		}
	}
	return out
}
