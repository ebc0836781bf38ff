package members

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// views are one second apart.
func changesOver(views ...View) []results.Change {
	c := Changes{Name: func(id string) string { return "etcd-" + id }}
	for i, v := range views {
		v.At = begin.Add(time.Duration(i) * time.Second)
		c.See(v)
	}
	return c.Found()
}

func view(leader string, term uint64, version string, voters ...string) View {
	return View{Members: map[string]State{"a": {Leader: leader, Term: term, Version: version}}, Voters: voters}
}

func TestChanges(t *testing.T) {
	before := view("a", 2, "3.6.1", "a", "b")
	silent := View{Members: map[string]State{"a": {Problem: "no answer"}}}
	at := func(seconds int, aspect results.Aspect, detail string) []results.Change {
		return []results.Change{{Aspect: aspect, Detail: detail, At: begin.Add(time.Duration(seconds) * time.Second)}}
	}
	tests := map[string]struct {
		views []View
		want  []results.Change
	}{
		"none":                  {[]View{before, before}, nil},
		"silence is no change":  {[]View{before, silent, before}, nil},
		"first seen late":       {[]View{silent, before, before}, nil},
		"another leader":        {[]View{before, view("b", 3, "3.6.1", "a", "b")}, at(1, results.AspectLeader, "from etcd-a to etcd-b")},
		"elected again":         {[]View{before, view("a", 4, "3.6.1", "a", "b")}, at(1, results.AspectLeader, "etcd-a was elected again, in term 4")},
		"after no leader":       {[]View{before, view("", 3, "3.6.1", "a", "b"), view("b", 3, "3.6.1", "a", "b")}, at(2, results.AspectLeader, "from etcd-a to etcd-b")},
		"an older election":     {[]View{before, view("b", 1, "3.6.1", "a", "b"), before}, nil},
		"another version":       {[]View{before, silent, view("a", 2, "3.7.3", "a", "b")}, at(2, results.AspectVersion, "etcd-a from 3.6.1 to 3.7.3")},
		"a member less":         {[]View{before, view("a", 2, "3.6.1", "a")}, at(1, results.AspectMembers, "from etcd-a, etcd-b to etcd-a")},
		"voters in other order": {[]View{before, view("a", 2, "3.6.1", "b", "a")}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, changesOver(tc.views...)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnobserved(t *testing.T) {
	whole := view("a", 2, "3.6.1", "a", "b")
	silent := View{Members: map[string]State{"a": {Problem: "no answer"}}}
	const why = "etcd-a did not report its status: no answer"
	tests := map[string]struct {
		views []View
		want  map[results.Aspect]string
	}{
		"before it began":      {nil, nil},
		"one view":             {[]View{silent}, nil},
		"all":                  {[]View{whole, whole}, nil},
		"silent in the middle": {[]View{whole, silent, whole}, nil},
		"nothing": {[]View{silent, silent}, map[results.Aspect]string{
			results.AspectLeader: why, results.AspectVersion: why, results.AspectMembers: "no member listed the voting members during the load"}},
		"once": {[]View{whole, silent, silent}, map[results.Aspect]string{
			results.AspectLeader: why, results.AspectVersion: why, results.AspectMembers: "no member listed the voting members during the load"}},
		"no leader":   {[]View{view("", 2, "3.6.1", "a"), view("", 2, "3.6.1", "a")}, map[results.Aspect]string{results.AspectLeader: "no member reported a leader"}},
		"no list":     {[]View{view("a", 2, "3.6.1"), view("a", 2, "3.6.1")}, map[results.Aspect]string{results.AspectMembers: "no member listed the voting members during the load"}},
		"no version":  {[]View{view("a", 2, "", "a"), view("a", 2, "", "a")}, map[results.Aspect]string{results.AspectVersion: "etcd-a did not report its version"}},
		"one of them": {[]View{with(whole, "b", "no answer"), with(whole, "b", "no answer")}, map[results.Aspect]string{results.AspectVersion: "etcd-b did not report its status: no answer"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := Changes{Name: func(id string) string { return "etcd-" + id }}
			for _, v := range tc.views {
				c.See(v)
			}
			if diff := cmp.Diff(tc.want, c.Unobserved()); diff != "" {
				t.Errorf("unobserved (-want +got):\n%s", diff)
			}
		})
	}
}

// with adds a member that does not report to a view.
func with(v View, id, problem string) View {
	v.Members = maps.Clone(v.Members)
	v.Members[id] = State{Problem: problem}
	return v
}

func TestChangesAreBounded(t *testing.T) {
	var views []View
	for i := range 50 {
		views = append(views, view(string(rune('a'+i%2)), uint64(i+1), "3.7.3"))
	}
	if got := len(changesOver(views...)); got != results.MaxChanges {
		t.Errorf("%d changes were kept, wanted %d", got, results.MaxChanges)
	}
}

// A member that lags behind knows an older election.
func TestElectionIsTheNewest(t *testing.T) {
	v := View{Members: map[string]State{"a": {Leader: "a", Term: 4}, "b": {Leader: "b", Term: 5}, "c": {Term: 6}}}
	if leader, term := v.Election(); leader != "b" || term != 5 {
		t.Errorf("got %s in term %d, wanted b in 5", leader, term)
	}
}
