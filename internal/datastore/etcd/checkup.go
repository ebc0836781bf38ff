package etcd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// gaugesOfDoctor are the metrics that only a checkup reads.
var gaugesOfDoctor = map[string]doctor.Gauge{
	metricDatabase: doctor.DatabaseBytes,
	"etcd_mvcc_db_total_size_in_use_in_bytes": doctor.InUseBytes,
	metricQuota:                                 doctor.QuotaBytes,
	"etcd_debugging_mvcc_keys_total":            doctor.Keys,
	"etcd_debugging_mvcc_current_revision":      doctor.Revision,
	"etcd_debugging_mvcc_compact_revision":      doctor.CompactRevision,
	"etcd_debugging_mvcc_watcher_total":         doctor.Watchers,
	"etcd_debugging_lease_granted_total":        doctor.LeasesGranted,
	"etcd_debugging_lease_revoked_total":        doctor.LeasesRevoked,
	"etcd_debugging_server_lease_expired_total": doctor.LeasesExpired,
}

var metricsOfDoctor = func() exposition.Reader {
	t := table()
	t.Others = append(t.Others, slices.Collect(maps.Keys(gaugesOfDoctor))...)
	return exposition.New(t)
}()

// lookLimit bounds each look at a member.
const lookLimit = 5 * time.Second

// checkup looks at the members of a target.
type checkup struct {
	*Driver
	at []members.Sample
}

// Checkup reads twice, this long apart, what the members of a target report about themselves. It sends only Status, MemberList
// and a ping, and reads /metrics; it writes nothing. An error is one of the credentials, or the context's.
func Checkup(ctx context.Context, t plan.Target, length time.Duration) (doctor.Cluster, error) {
	p := plan.Plan{Target: t}
	p.Target.Members, p.Target.MemberIndex, p.Load.Transport = spec.MembersAll, nil, spec.TransportClient
	c := &checkup{Driver: New(p, 0), at: make([]members.Sample, len(t.Endpoints))}
	defer c.Close()
	if _, err := c.secrets(); err != nil {
		return doctor.Cluster{}, err
	}
	found := doctor.Cluster{Members: make([]doctor.Member, len(t.Endpoints)), Length: length}
	ids := make([]uint64, len(t.Endpoints))
	c.each(func(i int, endpoint string) { found.Members[i], ids[i] = c.first(ctx, endpoint, i) })
	for i, m := range found.Members {
		if m.Problem == "" && m.Restricted == "" && ids[i] == 0 {
			return found, fmt.Errorf("%s answers without the ID of a member, as kine does: wanted the addresses of an etcd", m.Endpoint)
		}
	}
	c.nameAll(ctx, &found, ids)
	if err := load.Pause(ctx, length); err != nil {
		return found, err
	}
	pings := c.pings(ctx, found, ids)
	c.each(func(i int, endpoint string) {
		if m := &found.Members[i]; m.Problem == "" {
			m.Ping = pings[hexID(ids[i])]
			c.second(ctx, endpoint, i, ids[i], m)
		}
	})
	return found, ctx.Err()
}

func (c *checkup) each(do func(i int, endpoint string)) {
	var doing sync.WaitGroup
	for i, endpoint := range c.plan.Target.Endpoints {
		doing.Go(func() { do(i, endpoint) })
	}
	doing.Wait()
}

// status asks the member behind an address.
func (c *checkup) status(ctx context.Context, endpoint string) (*etcdserverpb.StatusResponse, error) {
	if err := c.probe(ctx, endpoint); err != nil {
		return nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	client, err := c.viewer(bounded, endpoint)
	if err != nil {
		return nil, explain(err, endpoint)
	}
	s, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Status(bounded, &etcdserverpb.StatusRequest{})
	if err != nil && !isRefused(err) {
		err = explain(err, endpoint)
	}
	return s, err
}

// first looks at a member, and keeps its sample.
func (c *checkup) first(ctx context.Context, endpoint string, i int) (m doctor.Member, id uint64) {
	m = doctor.Member{Name: endpoint, Endpoint: endpoint, Gauges: map[doctor.Gauge]float64{}}
	s, err := c.status(ctx, endpoint)
	switch {
	case isRefused(err):
		m.Restricted = unread
	case err != nil:
		m.Problem = err.Error()
		return m, 0
	default:
		id = s.Header.GetMemberId()
	}
	if page := c.sample(ctx, endpoint, i, id, &m); m.Restricted != "" {
		id = onlyID(page)
	}
	return m, id
}

// onlyID is the member whose metrics these are; 0 if there are several.
func onlyID(page exposition.Page) uint64 {
	ids := serverIDs(page)
	for id := range ids {
		if n, err := strconv.ParseUint(id, 16, 64); err == nil && len(ids) == 1 {
			return n
		}
	}
	return 0
}

// sample reads the metrics of a member. Without its ID, those of any member are taken.
func (c *checkup) sample(ctx context.Context, endpoint string, i int, id uint64, m *doctor.Member) exposition.Page {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	text, at, err := c.scrape(ctx, endpoint)
	if err != nil {
		m.Unread = fmt.Sprintf("%s: %v", results.UnreadMetrics, err)
		return nil
	}
	page, err := metricsOfDoctor.Parse(text)
	if err != nil {
		m.Unread = fmt.Sprintf("%s: %v", results.UnreadMetrics, err)
		return nil
	}
	if id == 0 {
		id = onlyID(page)
	}
	if m.Unread = problemOf(page, member{id: id, endpoint: endpoint}, nil); m.Unread != "" {
		return nil
	}
	c.at[i] = metricsOfDoctor.Sample(page, at)
	return page
}

// second completes a member with what has changed since the first look.
func (c *checkup) second(ctx context.Context, endpoint string, i int, id uint64, m *doctor.Member) {
	s, err := c.status(ctx, endpoint)
	switch {
	case isRefused(err):
		m.Version = c.version(ctx, endpoint)
	case err != nil:
		m.Problem = err.Error()
		return
	case s.Header.GetMemberId() != id:
		m.Problem = elsewhere(member{endpoint: endpoint}).Problem
		return
	default:
		m.Version, m.Alarm, m.Applied = s.Version, alarmOf(s.Errors), s.RaftAppliedIndex
		m.HasLeader, m.IsLeader = s.Leader != 0, s.Leader == id
	}
	if m.Unread != "" {
		return
	}
	before := c.at[i]
	page := c.sample(ctx, endpoint, i, id, m)
	if page == nil {
		return
	}
	if m.Restricted != "" {
		has, _ := page.Sum(metricHasLeader)
		is, _ := page.Sum(metricIsLeader)
		m.HasLeader, m.IsLeader = has == 1, is == 1
	}
	now := c.at[i]
	for name, gauge := range gaugesOfDoctor {
		if v, known := page.Sum(name); known {
			m.Gauges[gauge] = v
		}
	}
	if quota := s.GetDbSizeQuota(); quota > 0 {
		m.Gauges[doctor.QuotaBytes] = float64(quota)
	}
	m.Recent = windowOf(before, now)
	if start := now.Gauges[members.GaugeStart]; start > 0 {
		began := time.UnixMilli(int64(1000 * start))
		m.Uptime, m.Started = now.At.Sub(began), windowOf(unborn(now, began), now)
	}
}

// windowOf has the figures from one sample to the next.
func windowOf(before, after members.Sample) *results.MemberWindow {
	var t members.Track
	t.Add(before)
	t.Add(after)
	return t.Window(before.At, after.At)
}

// unborn is the sample of a process that has just started: all counters are 0.
func unborn(s members.Sample, at time.Time) members.Sample {
	out := members.Sample{At: at, Counters: map[results.Figure]float64{}, Gauges: s.Gauges, Timers: map[results.Timer]members.Histogram{}}
	for f := range s.Counters {
		out.Counters[f] = 0
	}
	for name, h := range s.Timers {
		h.Count, h.Seconds, h.Buckets = 0, 0, slices.Clone(h.Buckets)
		for i := range h.Buckets {
			h.Buckets[i].Count = 0
		}
		out.Timers[name] = h
	}
	return out
}

// nameAll gives the members their names, and lists the voters that no address leads to.
func (c *checkup) nameAll(ctx context.Context, found *doctor.Cluster, ids []uint64) {
	for i, m := range found.Members {
		if m.Problem != "" {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, lookLimit)
		defer cancel()
		client, err := c.viewer(ctx, c.plan.Target.Endpoints[i])
		if err != nil {
			continue
		}
		list, err := client.MemberList(ctx, clientv3.WithSerializable())
		if err != nil {
			continue
		}
		for _, listed := range list.Members {
			at := slices.Index(ids, listed.ID)
			if at < 0 {
				at = slices.IndexFunc(found.Members, func(m doctor.Member) bool {
					isItsOwn := func(url string) bool { return strings.HasSuffix(url, "://"+m.Endpoint) }
					return m.Problem != "" && slices.ContainsFunc(listed.ClientURLs, isItsOwn)
				})
			}
			switch {
			case at >= 0 && listed.Name != "":
				found.Members[at].Name = listed.Name
			case at < 0 && !listed.IsLearner:
				found.Unlisted = append(found.Unlisted, listed.Name)
			}
		}
		return
	}
}

// pings are how long the members took to answer, by ID.
func (c *checkup) pings(ctx context.Context, found doctor.Cluster, ids []uint64) map[string]time.Duration {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	c.mutex.Lock()
	c.topology.members = nil
	for i, m := range found.Members {
		if m.Problem == "" {
			c.topology.members = append(c.topology.members, member{id: ids[i], endpoint: m.Endpoint})
		}
	}
	c.mutex.Unlock()
	return c.Ping(ctx)
}
