package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// pinged is a target whose member "a" answers pings, and "b" does not.
type pinged struct{ pings int }

func (p *pinged) Sample(context.Context) map[string]members.Sample {
	at := members.Sample{At: time.Now(), Gauges: map[members.Gauge]float64{members.GaugeStart: 1, members.GaugeMemoryBytes: 1000}}
	return map[string]members.Sample{"a": at, "b": at}
}

func (p *pinged) Ping(ctx context.Context) map[string]time.Duration {
	p.pings++
	// The answer of "b" does not come.
	<-ctx.Done()
	return map[string]time.Duration{"a": 7 * time.Millisecond}
}

// Members are pinged once a second during the window, and a member that does not answer delays nothing.
func TestMembersArePinged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := &pinged{}
		s := &sampler{source: target, pinger: target, interval: 5 * time.Second}
		s.begin(t.Context())
		// The clock of the bubble: this takes no time.
		time.Sleep(10500 * time.Millisecond)
		s.last()
		s.end()
		for id, want := range map[string]float64{"a": 11, "b": 0} {
			m := results.Member{ID: id}
			s.fill(&m)
			if got, _ := m.Window.Value(results.FigurePings); got != want {
				t.Errorf("%s answered %v pings, wanted %v", id, got, want)
			}
		}
		var snapshot results.Snapshot
		s.course(&snapshot)
		if got := snapshot.Samples["a"]; got == nil || len(got.At) != 4 {
			t.Errorf("got the samples %+v, wanted those at 0, 5, 10 and 10.5 s", got)
		}
	})
}
