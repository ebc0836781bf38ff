//go:build stores

package consul

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/consul/consultest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A server's own metrics over the window are figures of the run. The leader commits each put, and flushes its log for some at
// a time.
func TestServersReportFigures(t *testing.T) {
	t.Parallel()
	servers := consultest.Start(t, 3)
	p := planFor(servers, func(p *plan.Plan) { p.Load.Requests = new(int64(300)) })
	d := driverOf(t, p, 0)
	before := d.Sample(bounded(t))
	s := run(t, p)[0]
	after := d.Sample(bounded(t))
	_, succeeded, _ := sums([]*results.Snapshot{s})
	leaders := 0
	for _, m := range s.Target.Members {
		w := m.Window
		flush, flushed := w.Timing(results.TimerWALFsync)
		apply, applied := w.Timing(results.TimerApply)
		if !flushed || flush.Count == 0 || flush.Mean == 0 || !applied || apply.Count == 0 {
			t.Errorf("%s: got %+v, wanted flushes of the log, and what was applied", m.Name, w)
		}
		changes, known := w.Value(results.FigureLeaderChanges)
		cpu, used := w.CPU()
		if !known || changes != 0 || !used || cpu <= 0 || m.ResidentMemoryBytes == 0 {
			t.Errorf("%s: got %+v, wanted no election, and the use of its process", m.Name, w)
		}
		if m.Leader {
			leaders++
			// The window's own first sample is taken while the first requests are under way.
			added := func(of results.Timer) float64 { return after[m.ID].Timers[of].Count - before[m.ID].Timers[of].Count }
			applied, flushes := added(results.TimerApply), added(results.TimerWALFsync)
			if applied < float64(succeeded) || flushes > applied+10 {
				t.Errorf("%s: %d puts, %v applied, %v flushes", m.Name, succeeded, applied, flushes)
			}
		}
	}
	if leaders != 1 {
		t.Errorf("%d leaders", leaders)
	}
}

// A server that does not serve its metrics says how it would.
func TestServersThatReportNoFigures(t *testing.T) {
	t.Parallel()
	off := consultest.Start(t, 1, `{"telemetry": {"prometheus_retention_time": "0s"}}`)
	denied := consultest.Start(t, 1, consultest.ACLs)
	token := withToken(denied[0].Token(t, `key_prefix "etcdbench/" { policy = "write" }`))
	for want, p := range map[string]plan.Plan{"telemetry.prometheus_retention_time": planFor(off), "agent_prefix": planFor(denied, token)} {
		for _, s := range driverOf(t, p, 0).Sample(bounded(t)) {
			if !strings.HasPrefix(s.Problem, results.UnreadMetrics) || !strings.Contains(s.Problem, want) {
				t.Errorf("got the problem %q, wanted %q in it", s.Problem, want)
			}
		}
	}
}
