package supervisor

import (
	"fmt"
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

// A member does not wait for the plugin: its lines are gathered, and the plugin gets the first ones and their number.
func TestLinesAreGathered(t *testing.T) {
	told := make(chan []said)
	g := gathered{tell: func(all []said) { told <- all }}
	for i := range 2 * v1alpha1.MaxLogLines {
		g.add(logKey{1, spec.LogSlowApply}, Line{time.Unix(int64(i), 0), fmt.Sprint(i)})
	}
	all := <-told
	if len(all) != 1 || all[0].Count != 2*v1alpha1.MaxLogLines || len(all[0].Lines) != v1alpha1.MaxLogLines || !all[0].At.Equal(time.Unix(0, 0)) {
		t.Errorf("found %+v", all)
	}
	g.add(logKey{0, spec.LogElection}, Line{Text: "next"})
	if all = <-told; len(all) != 1 || all[0].Kind != spec.LogElection || all[0].Count != 1 {
		t.Errorf("found %+v", all)
	}
}

// Only lines of the window count, and of each kind the first ones are kept.
func TestTheLogOfAWindow(t *testing.T) {
	from := time.Unix(1000, 0)
	at := func(second int) time.Time { return from.Add(time.Duration(second) * time.Second) }
	event := func(kind spec.LogKind, second, n int) said {
		s := said{Member: 1, Kind: kind, At: at(second), Count: int64(n)}
		for range min(n, v1alpha1.MaxLogLines) {
			s.Lines = append(s.Lines, Line{at(second), fmt.Sprint(second)})
		}
		return s
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
