package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func TestLinesOfALog(t *testing.T) {
	var found []string
	log := &lines{each: func(line []byte) { found = append(found, string(line)) }}
	for _, part := range []string{"one\ntw", "o\n", "\n", strings.Repeat("x", keptLog+1), "\nfour\nrest"} {
		if n, err := log.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("wrote %d of %d, %v", n, len(part), err)
		}
	}
	// A line that is longer than what is kept of a log is dropped.
	if diff := cmp.Diff([]string{"one", "two", "", "", "four"}, found); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if !strings.HasSuffix(log.words(), "rest") {
		t.Errorf("the end of the log is %q", log.words())
	}
}

// A member does not wait for the plugin: its lines are gathered, and the plugin gets the text of the first and the time of each.
func TestLinesAreGathered(t *testing.T) {
	told := make(chan []said)
	g := gathered{tell: func(all []said) { told <- all }}
	for i := range 2 * v1alpha1.MaxLogLines {
		g.add(logKey{1, spec.LogSlowApply}, Line{time.Unix(int64(i), 0), fmt.Sprint(i)})
	}
	all := <-told
	if len(all) != 1 || len(all[0].Lines) != 2*v1alpha1.MaxLogLines {
		t.Fatalf("found %+v", all)
	}
	for i, l := range all[0].Lines {
		if hasText := l.Text != ""; hasText != (i < v1alpha1.MaxLogLines) || !l.At.Equal(time.Unix(int64(i), 0)) {
			t.Errorf("line %d is %+v", i, l)
		}
	}
	g.add(logKey{0, spec.LogElection}, Line{Text: "next"})
	if all = <-told; len(all) != 1 || all[0].Kind != spec.LogElection || len(all[0].Lines) != 1 {
		t.Errorf("found %+v", all)
	}
}

// Only lines of the window count, and of each kind the first ones are kept.
func TestTheLogOfAWindow(t *testing.T) {
	from := time.Unix(1000, 0)
	at := func(second int) time.Time { return from.Add(time.Duration(second) * time.Second) }
	event := func(kind spec.LogKind, second, n int) said {
		return said{Member: 1, Kind: kind, Lines: slices.Repeat([]Line{{at(second), fmt.Sprint(second)}}, n)}
	}
	c := &Cluster{}
	c.hear([]said{event(spec.LogElection, -50, 1)})
	if got := c.Log(1, at(100)); got != nil {
		t.Errorf("found %+v before the start", got)
	}
	c.Listen(from)
	c.hear([]said{event(spec.LogElection, -1, 1), event(spec.LogSnapshot, 2, 1), event(spec.LogSlowApply, 3, 500)})
	c.hear([]said{event(spec.LogSlowApply, 4, 7), event(spec.LogSnapshot, 11, 1)})
	got := c.Log(1, at(10))
	if len(got) != 2 || got[0].Kind != spec.LogSlowApply || got[0].Count != 507 || len(got[0].Lines) != v1alpha1.MaxLogLines {
		t.Fatalf("found %+v, wanted 507 slow applies with the first lines", got)
	}
	want := v1alpha1.MemberLog{Kind: spec.LogSnapshot, Count: 1, Lines: []v1alpha1.LogLine{{AtMicroseconds: 2e6, Text: "2"}}}
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Errorf("snapshots (-want +got):\n%s", diff)
	}
	if got := c.Log(0, at(10)); got != nil {
		t.Errorf("found %+v of another member", got)
	}
}

// Lines that were gathered together may be on both sides of a bound of the window.
func TestTheBoundsOfALog(t *testing.T) {
	from := time.Unix(1000, 0)
	until := from.Add(10 * time.Second)
	around := func(bound time.Time, before, after int, told string) (lines []Line) {
		for i := range before + after {
			lines = append(lines, Line{bound.Add(time.Duration(i-before) * time.Millisecond), told})
		}
		return lines
	}
	for name, test := range map[string]struct {
		all  []Line
		want int64
	}{
		"most before the start":         {around(from, 30, 3, "a"), 3},
		"without text after the start":  {append(around(from, 30, 0, "a"), around(from, 0, 2, "")...), 2},
		"some after the end":            {around(until, 4, 9, "a"), 5},
		"to a second after the 20 kept": {append(around(from, 0, 20, "a"), around(until, 7, 0, "a")...), 27},
		"seconds after the end":         {append(around(from, 0, 20, "a"), around(until.Add(5*time.Second), 0, 7, "a")...), 20},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Cluster{}
			c.Listen(from)
			c.hear([]said{{Kind: spec.LogSlowApply, Lines: test.all}})
			if got := c.Log(0, until); len(got) != 1 || got[0].Count != test.want || len(got[0].Lines) > v1alpha1.MaxLogLines {
				t.Errorf("found %+v, wanted %d lines", got, test.want)
			}
		})
	}
}

// A member that writes lines for hours needs no more memory than a number for each second.
func TestALongLogIsSmall(t *testing.T) {
	c := &Cluster{}
	from := time.Unix(1000, 0)
	c.Listen(from)
	for i := range 10_000 {
		c.hear([]said{{Kind: spec.LogSlowApply, Lines: []Line{{from.Add(time.Duration(i) * time.Millisecond), "a"}}}})
	}
	h := c.heard[logKey{0, spec.LogSlowApply}]
	if len(h.lines) != v1alpha1.MaxLogLines || len(h.more) != 10 {
		t.Errorf("keeps %d lines and %d numbers", len(h.lines), len(h.more))
	}
}
