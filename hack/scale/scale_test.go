package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// TestScrapes: what the pods serve is what the operator reads from real pods, and changes each time.
func TestScrapes(t *testing.T) {
	tape, err := record()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a := &pod{runUID: "uid", index: 3, window: time.Minute, tape: tape, admitted: now.Add(-2 * time.Minute), start: now.Add(-time.Minute / 2)}
	half := read(t, a, now)
	if half.Stage != results.StageMeasuring || half.RunUID != "uid" || half.Index != 3 {
		t.Errorf("wanted pod 3 of run uid, measuring, found pod %d of run %s, %s", half.Index, half.RunUID, half.Stage)
	}
	done := read(t, a, now.Add(time.Minute))
	if n := requestsIn(done); done.Stage != results.StageDone || n != podRequests {
		t.Errorf("wanted %d requests of a pod that is done, found %d, %s", podRequests, n, done.Stage)
	}
	if n := requestsIn(half); n == 0 || n >= podRequests {
		t.Errorf("wanted a part of the requests in the middle of the window, found %d", n)
	}
}

func requestsIn(s *results.Snapshot) (n uint64) {
	for _, result := range s.Operations {
		n += result.Latency.Count()
	}
	return n
}

func read(t *testing.T, a *pod, at time.Time) *results.Snapshot {
	t.Helper()
	body, err := scrape(a.snapshot(at))
	if err != nil {
		t.Fatal(err)
	}
	s, err := wire.Read(bytes.NewReader(body), wire.ScrapeAccept)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
