package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
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
