//go:build stores

package zookeeper

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

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

// A change of the leader is counted by all servers. A server that joins the same leader again counts none.
func TestServersCountChangesOfTheLeader(t *testing.T) {
	t.Parallel()
	servers := zookeepertest.Start(t, 3, allowed, "syncLimit=2")
	var endpoints []string
	for _, s := range servers {
		endpoints = append(endpoints, s.Endpoint())
	}
	d := driverOf(t, planFor(endpoints), 0)
	target, _, err := d.Preflight(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	leader := slices.IndexFunc(target.Members, func(m results.Member) bool { return m.Leader })
	paused, third := (leader+1)%3, (leader+2)%3
	ctx := bounded(t)
	client := zookeepertest.Client(t, endpoints[third])
	changes := func(server int) float64 {
		return d.Sample(ctx)[target.Members[server].ID].Counters[results.FigureLeaderChanges]
	}
	metric := func(server int, name string) float64 {
		values, _ := d.metrics(ctx, endpoints[server])
		return values[name]
	}
	makeNodeAt(t, client, "/first")
	await(t, ctx, func() bool { return changes(paused) > 0 })
	before, elections := changes(paused), metric(paused, "cnt_election_time")
	resume := servers[paused].Pause(t)
	await(t, ctx, func() bool { return metric(leader, "synced_followers") == 1 })
	resume()
	await(t, ctx, func() bool { return metric(paused, "cnt_election_time") > elections })
	if after := changes(paused); after != before {
		t.Errorf("a server that was paused counted %v changes of the leader, and counts %v", before, after)
	}
	servers[leader].Kill()
	await(t, ctx, func() bool {
		_, err := client.Create("/second", nil, 0, everybody)
		return err == nil || err == zk.ErrNodeExists
	})
	for _, server := range []int{paused, third} {
		await(t, ctx, func() bool { return changes(server) > before })
	}
}
