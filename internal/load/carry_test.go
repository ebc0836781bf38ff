package load

import (
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Responses in the window to warm-up requests offset those that the window's end cuts off. Without them, throughput
// would be too low by the number of requests in flight.
func TestLastAnswersOfTheWarmUpCountForThroughputOnly(t *testing.T) {
	duration := func(p *plan.Plan) { forOneSecond(0)(p); p.Load.WarmupSeconds = 1 }
	requests := func(p *plan.Plan) { p.Load.Requests, p.Load.WarmupSeconds = new(int64(100)), 1 }
	for name, tc := range map[string]struct {
		change func(*plan.Plan)
		// after is when the response came, from the start of the window.
		after Instant
		code  string
		want  uint64
	}{
		"before the window":         {duration, -1, "", 0},
		"at its start":              {duration, 0, "", 1},
		"at its end":                {duration, Instant(time.Second), "", 0},
		"a failure":                 {duration, 1, CodeCanceled, 0},
		"a window of some requests": {requests, 1, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(tc.change)
			w := workload.New(p.Run)
			c := newClient(0, nullConn{}, w, p, always())
			e := newEngine(p, w, []*client{c}, newRecorder(), always())
			part, err := p.Part(0)
			if err != nil {
				t.Fatal(err)
			}
			e.prepare(part, Now())
			defer e.close()
			c.response = Response{Sent: 1, Received: e.measured.start + tc.after, Code: tc.code}
			e.account(c, e.warmup, w.At(e.warmup.stream, 0), dueAt(1))
			got := e.recorder.results(spec.OperationPut)
			if got.CompletedInWindow != tc.want || got.Latency.Count() > 0 || got.Failed.Count() > 0 {
				t.Errorf("got %+v, wanted %d completed and nothing else", got, tc.want)
			}
		})
	}
}
