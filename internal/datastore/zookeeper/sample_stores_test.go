//go:build stores

package zookeeper

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const allowed = "4lw.commands.whitelist=srvr,mntr"

// Servers report their own metrics over mntr or AdminServer. One that has neither says how it would.
func TestServersReportFigures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		settings []string
		problem  string
	}{
		"mntr":        {[]string{allowed, "admin.enableServer=false"}, ""},
		"AdminServer": {nil, ""},
		"neither":     {[]string{"admin.enableServer=false"}, allowed},
	} {
		t.Run(name, func(t *testing.T) {
			server := zookeepertest.Start(t, 1, tc.settings...)[0]
			d := driverOf(t, planFor([]string{server.Endpoint()}), 0)
			sample := func() (only members.Sample) {
				for _, only = range d.Sample(bounded(t)) {
				}
				return only
			}
			before := sample()
			if tc.problem != "" {
				if !strings.HasPrefix(before.Problem, results.UnreadMetrics) || !strings.Contains(before.Problem, tc.problem) {
					t.Errorf("got the problem %q, wanted %q in it", before.Problem, tc.problem)
				}
				return
			}
			makeNodeAt(t, zookeepertest.Client(t, server.Endpoint()), "/found")
			ctx := bounded(t)
			var after members.Sample
			// A server counts a response after it was sent.
			await(t, ctx, func() bool {
				after = sample()
				return after.Counters[results.FigureClientSentBytes] > before.Counters[results.FigureClientSentBytes]
			})
			if after.Counters[results.FigureClientReceivedBytes] <= before.Counters[results.FigureClientReceivedBytes] {
				t.Errorf("got %v, then %v", before.Counters, after.Counters)
			}
			for _, timer := range []results.Timer{results.TimerWALFsync, results.TimerHandling} {
				if after.Timers[timer].Count <= before.Timers[timer].Count {
					t.Errorf("%s was %+v and is %+v", timer, before.Timers, after.Timers)
				}
			}
			if after.Gauges[members.GaugeDatabaseBytes] <= before.Gauges[members.GaugeDatabaseBytes] || before.Gauges[members.GaugeStart] == 0 {
				t.Errorf("got %v, then %v", before.Gauges, after.Gauges)
			}
		})
	}
}

// Each server of an ensemble counts the elections in which it takes part.
func TestServersCountElections(t *testing.T) {
	t.Parallel()
	servers := zookeepertest.Start(t, 3, allowed)
	var endpoints []string
	for _, s := range servers {
		endpoints = append(endpoints, s.Endpoint())
	}
	d := driverOf(t, planFor(endpoints), 0)
	target, _, err := d.Preflight(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	before := d.Sample(bounded(t))
	for i, m := range target.Members {
		if m.Leader {
			servers[i].Kill()
		}
	}
	ctx := bounded(t)
	for _, m := range target.Members {
		if m.Leader {
			continue
		}
		await(t, ctx, func() bool {
			s := d.Sample(ctx)[m.ID]
			return s.Counters[results.FigureLeaderChanges] == before[m.ID].Counters[results.FigureLeaderChanges]+1
		})
	}
}
