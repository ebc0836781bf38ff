package render

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// What one reason leaves undecided is one sentence.
func TestUndecidedChecksOfOneReason(t *testing.T) {
	got := alike([]doctor.Undecided{
		{Kind: "SlowFlush", Member: "a", Why: "no metrics", Needs: "its metrics"},
		{Kind: "SlowFlush", Member: "b", Why: "no metrics", Needs: "its metrics"},
		{Kind: "SlowFlush", Member: "c", Why: "3 times observed", Needs: "30"},
		{Kind: "SlowPeer", Member: "a", Why: "no metrics", Needs: "its metrics"},
		{Kind: "SlowPeer", Member: "b", Why: "no metrics", Needs: "its metrics"},
	})
	want := []doctor.Undecided{
		{Kind: "SlowFlush, SlowPeer", Member: "a, b", Why: "no metrics", Needs: "its metrics"},
		{Kind: "SlowFlush", Member: "c", Why: "3 times observed", Needs: "30"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The sizes stand beside all RPCs, and a duration beside its own. Without durations there is no column of them.
func TestTheRPCsOfMembers(t *testing.T) {
	recent := &results.MemberWindow{Figures: map[results.Figure]float64{
		results.FigureSampledSeconds: 10, results.FigureClientReceivedBytes: 2_000, results.FigureClientSentBytes: 1_000_000}}
	timed := results.Timing{Count: 60, Mean: 3 * time.Millisecond, P99Above: 5 * time.Millisecond, P99AtMost: 10 * time.Millisecond}
	c := doctor.Cluster{Members: []doctor.Member{{Name: "m1", Recent: recent, Methods: []doctor.Method{
		{Name: "Range", Received: 60, Sent: 60, Handling: timed}, {Name: "Watch", Sent: 40}, {Name: "Put", Received: 30}, {Name: "Txn", Received: 10}}}, {Name: "m2"}}}
	g := requestsServed(c)
	want := [][]string{
		{"MEMBER", "RPC", "RECEIVED", "SENT", "MEAN TIME", "P99", "MEAN RECEIVED", "MEAN SENT"},
		{"m1", "all", "10/s", "10/s", "–", "–", "20 B", "10,000 B"},
		{"m1", "Range", "6/s", "6/s", "3ms", "≤10ms", "–", "–"},
		{"m1", "Watch", "0/s", "4/s", "–", "–", "–", "–"},
		{"m1", "Put", "3/s", "0/s", "–", "–", "–", "–"},
	}
	if diff := cmp.Diff(want, g.rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Members[0].Methods[0].Handling = results.Timing{}
	if g := requestsServed(c); len(g.rows[0]) != 6 {
		t.Errorf("without durations: got the columns %q", g.rows[0])
	}
}

// What was not looked for is told, and is no check that is not decided.
func TestWhatWasNotLookedFor(t *testing.T) {
	c := doctor.Cluster{Members: []doctor.Member{{Name: "m1"}}}
	got := Diagnosis(c, doctor.Diagnosis{NotLookedFor: []doctor.Undecided{{Kind: "Throttled", Member: "m1", Why: "forbidden", Needs: "a right"}}})
	if !strings.Contains(got, "Not looked for: Throttled of m1: forbidden. It takes a right.") || !strings.HasPrefix(got, "Nothing found.") {
		t.Errorf("got %s", got)
	}
}
