package members

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// View is the status of the cluster at one moment, as its members report it.
type View struct {
	At time.Time
	// Members are the members' reports, by the ID in results.Member.
	Members map[string]State
	// Voters are the IDs of the voting members; nil if no member listed them.
	Voters []string
}

// State is one member's report on itself and on its cluster.
type State struct {
	// Alarm is NOSPACE or CORRUPT, of any member; empty if there is none.
	Alarm string
	// Leader is the ID of the leader that the member follows, and Term the number of the election. Leader is empty
	// while the member knows none.
	Leader        string
	Term          uint64
	Version       string
	DatabaseBytes int64
	// Unread is why the report lacks Alarm and DatabaseBytes; empty if it has them.
	Unread string
	// Problem is why the member did not report; empty if it did.
	Problem string
}

// UnknownLeader stands for the leader in the report of a member that says only the number of the election.
const UnknownLeader = "unknown"

// Election returns the newest leader that a member knows; empty if there is none.
func (v View) Election() (leader string, term uint64) {
	for _, id := range v.IDs() {
		if s := v.Members[id]; s.Leader != "" && s.Term > term {
			leader, term = s.Leader, s.Term
		}
	}
	return leader, term
}

// IDs returns the members' IDs, sorted.
func (v View) IDs() []string {
	var ids []string
	for id := range v.Members {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Changes finds the changes between successive views. The zero value is ready.
type Changes struct {
	// Name returns the name of a member; nil means that IDs are used.
	Name func(id string) string

	leader   string
	term     uint64
	versions map[string]string
	voters   []string
	found    []results.Change

	counts viewCounts
}

// Found returns the changes in the order of time.
func (c *Changes) Found() []results.Change { return slices.Clone(c.found) }

// From takes the view before the load; the first view of See is compared with it. It does not count as a view during
// the load.
func (c *Changes) From(v View) { c.compare(v) }

// See takes the next view. What is missing in a view is assumed unchanged.
func (c *Changes) See(v View) {
	c.counts.add(v, c.name)
	c.compare(v)
}

func (c *Changes) compare(v View) {
	c.seeLeader(v)
	c.seeVersions(v)
	c.seeVoters(v)
}

func (c *Changes) seeLeader(v View) {
	leader, term := v.Election()
	switch {
	case leader == "", term < c.term:
		// No member that knows the newest election has reported.
		return
	case c.leader != "" && leader != c.leader:
		c.add(v, results.AspectLeader, fmt.Sprintf("from %s to %s", c.name(c.leader), c.name(leader)))
	case c.leader != "" && term > c.term:
		c.add(v, results.AspectLeader, fmt.Sprintf("%s was elected again, in term %d", c.name(leader), term))
	}
	c.leader, c.term = leader, term
}

func (c *Changes) seeVersions(v View) {
	if c.versions == nil {
		c.versions = map[string]string{}
	}
	for _, id := range v.IDs() {
		before, now := c.versions[id], v.Members[id].Version
		if before != "" && now != "" && before != now {
			c.add(v, results.AspectVersion, fmt.Sprintf("%s from %s to %s", c.name(id), before, now))
		}
		c.versions[id] = cmp.Or(now, before)
	}
}

func (c *Changes) seeVoters(v View) {
	if v.Voters == nil {
		return
	}
	now := slices.Sorted(slices.Values(v.Voters))
	if c.voters != nil && !slices.Equal(c.voters, now) {
		c.add(v, results.AspectMembers, fmt.Sprintf("from %s to %s", c.names(c.voters), c.names(now)))
	}
	c.voters = now
}

func (c *Changes) add(v View, aspect results.Aspect, detail string) {
	if len(c.found) < results.MaxChanges {
		c.found = append(c.found, results.Change{Aspect: aspect, Detail: detail, At: v.At})
	}
}

func (c *Changes) name(id string) string {
	if c.Name == nil {
		return id
	}
	return c.Name(id)
}

func (c *Changes) names(ids []string) string {
	var all []string
	for _, id := range ids {
		all = append(all, c.name(id))
	}
	return strings.Join(all, ", ")
}
