package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
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

// checkup looks at the members of a target. ids are their IDs, 0 if that is not known; names are those that the cluster lists.
type checkup struct {
	*Driver
	at         []members.Sample
	methods    []methods
	peers      []peers
	groups     []doctor.Groups
	ids        []uint64
	clusters   []uint64
	names      map[uint64]string
	throttling Throttling
}

// Checkup reads twice, this long apart, what the members of a target report about themselves. It sends Status, MemberList and a
// ping, and reads /metrics; with a user it also logs in, which etcd passes through its log. It writes no key. throttling reads the
// control groups of a member. An error is one of the credentials, of the addresses, or the context's.
func Checkup(ctx context.Context, t plan.Target, length time.Duration, throttling Throttling) (doctor.Cluster, error) {
	p := plan.Plan{Target: t}
	p.Target.Members, p.Target.MemberIndex, p.Load.Transport = spec.MembersAll, nil, spec.TransportClient
	c := newCheckup(p, throttling)
	defer c.Close()
	return c.examine(ctx, length)
}

func newCheckup(p plan.Plan, throttling Throttling) *checkup {
	n := len(p.Target.Endpoints)
	return &checkup{
		Driver: New(p, 0), at: make([]members.Sample, n), methods: make([]methods, n), peers: make([]peers, n), groups: make([]doctor.Groups, n),
		ids: make([]uint64, n), clusters: make([]uint64, n), throttling: throttling,
	}
}

// examine looks twice, this long apart.
func (c *checkup) examine(ctx context.Context, length time.Duration) (doctor.Cluster, error) {
	found, err := c.firstLook(ctx)
	if err != nil {
		return found, err
	}
	found.Length = length
	if err := load.Pause(ctx, length); err != nil {
		return found, err
	}
	pings := c.pings(ctx)
	c.each(func(i int) error {
		if m := &found.Members[i]; m.Problem == "" {
			m.Ping = pings[hexID(c.ids[i])]
			c.second(ctx, i, m)
			c.throttle(ctx, c.groups[i], m)
		}
		return nil
	})
	return found, ctx.Err()
}

// firstLook finds the members, and keeps their samples.
func (c *checkup) firstLook(ctx context.Context) (doctor.Cluster, error) {
	if _, err := c.secrets(); err != nil {
		return doctor.Cluster{}, err
	}
	found := doctor.Cluster{Members: make([]doctor.Member, len(c.ids))}
	errs := c.each(func(i int) (err error) {
		found.Members[i], err = c.first(ctx, i)
		return err
	})
	if err := cmp.Or(c.refusal(errs), c.oneCluster(found)); err != nil {
		return found, err
	}
	c.nameAll(ctx, &found)
	c.know(found)
	return found, nil
}

func (c *checkup) each(do func(i int) error) []error { return remote.All(c.plan.Target.Endpoints, do) }

// refuses reports whether the member behind an address answers, and does not accept the credentials.
func refuses(err error) bool {
	f := load.FailureOf(err)
	return f != nil && (f.Reason == results.FailureTLSFailed || f.Reason == results.FailureAuthenticationFailed)
}

// refusal is the error of credentials that no member accepts.
func (c *checkup) refusal(errs []error) error {
	if slices.ContainsFunc(errs, func(err error) bool { return !refuses(err) }) {
		return nil
	}
	return remote.Troubles(c.plan.Target.Endpoints, errs)
}

// oneCluster checks that the addresses lead to members of one etcd, and each to another one.
func (c *checkup) oneCluster(found doctor.Cluster) error {
	known := -1
	for i, m := range found.Members {
		switch {
		case m.Problem != "" || m.Restricted != "":
			continue
		case c.ids[i] == 0:
			return fmt.Errorf("%s answers without the ID of a member, as kine does: wanted the addresses of an etcd", m.Endpoint)
		case known >= 0 && c.clusters[known] != c.clusters[i]:
			return differentClusters(found.Members[known].Endpoint, c.clusters[known], m.Endpoint, c.clusters[i])
		}
		if same := slices.Index(c.ids[:i], c.ids[i]); same >= 0 {
			return unhealthy("%s and %s lead to the same member: name each member once", found.Members[same].Endpoint, m.Endpoint)
		}
		known = i
	}
	return nil
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
		return nil, unentered{explain(err, endpoint)}
	}
	s, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Status(bounded, &etcdserverpb.StatusRequest{})
	if err != nil && !isRefused(err) {
		err = explain(err, endpoint)
	}
	return s, err
}

// unentered is the error of a member that serves gRPC, and did not complete the login: without a quorum, none can.
type unentered struct{ error }

func (e unentered) Unwrap() error { return e.error }

// restriction is why only the metrics of a member may be read; empty if an error does not mean that.
func restriction(err error) string {
	if isRefused(err) {
		return unread
	}
	if _, ok := errors.AsType[unentered](err); ok && !refuses(err) {
		return fmt.Sprintf("this user could not log in (%v)", err)
	}
	return ""
}

// first looks at a member, and keeps its sample. Its error is that of a member that does not answer.
func (c *checkup) first(ctx context.Context, i int) (m doctor.Member, err error) {
	endpoint := c.plan.Target.Endpoints[i]
	m = doctor.Member{Name: endpoint, Endpoint: endpoint, Gauges: map[doctor.Gauge]float64{}}
	c.ids[i], c.clusters[i] = 0, 0
	s, err := c.status(ctx, endpoint)
	m.Restricted = restriction(err)
	if err != nil && m.Restricted == "" {
		m.Problem, m.Refused = err.Error(), refuses(err)
		return m, err
	}
	c.ids[i], c.clusters[i] = s.GetHeader().GetMemberId(), s.GetHeader().GetClusterId()
	m.HadLeader, m.AppliedBefore = s.GetLeader() != 0, s.GetRaftAppliedIndex()
	m.Version, m.IsLeader = s.GetVersion(), m.HadLeader && s.GetLeader() == c.ids[i]
	c.groups[i], m.ThrottlingUnread = c.throttling(ctx, endpoint)
	page := c.sample(ctx, i, &m)
	if m.Restricted == "" {
		return m, nil
	}
	if page == nil && !isRefused(err) {
		m.Problem = err.Error()
		return m, err
	}
	c.ids[i] = onlyID(page)
	has, _ := page.Sum(metricHasLeader)
	m.HadLeader = has == 1
	return m, nil
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
func (c *checkup) sample(ctx context.Context, i int, m *doctor.Member) exposition.Page {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	text, at, err := c.scrape(ctx, m.Endpoint)
	var page exposition.Page
	if err == nil {
		page, err = metricsOfDoctor.Parse(text)
	}
	if err != nil {
		m.Unread = fmt.Sprintf("%s: %v", results.UnreadMetrics, err)
		return nil
	}
	if m.Unread = problemOf(page, member{id: cmp.Or(c.ids[i], onlyID(page)), endpoint: m.Endpoint}, c.members()); m.Unread != "" {
		return nil
	}
	c.at[i], c.methods[i], c.peers[i] = metricsOfDoctor.Sample(page, at), methodsIn(text, at), peersIn(text, at)
	return page
}

// second completes a member with what has changed since the first look.
func (c *checkup) second(ctx context.Context, i int, m *doctor.Member) {
	s, err := c.status(ctx, m.Endpoint)
	switch {
	case restriction(err) != "":
		m.Restricted, m.Version = restriction(err), c.version(ctx, m.Endpoint)
	case err != nil:
		m.Problem, m.Refused = err.Error(), refuses(err)
		return
	case s.Header.GetMemberId() != c.ids[i] && c.ids[i] != 0:
		m.Problem = elsewhere(member{endpoint: m.Endpoint}).Problem
		return
	default:
		m.Version, m.Alarms, m.Applied = s.Version, c.alarmsIn(s.Errors), s.RaftAppliedIndex
		m.HasLeader, m.IsLeader = s.Leader != 0, s.Leader == s.Header.GetMemberId()
		m.Gauges[doctor.DatabaseBytes], m.Gauges[doctor.InUseBytes] = float64(s.DbSize), float64(s.DbSizeInUse)
	}
	if m.Unread == "" {
		before, methods, peers := c.at[i], c.methods[i], c.peers[i]
		c.measure(before, c.sample(ctx, i, m), i, m)
		if m.Recent != nil && m.Recent.Unknown == "" {
			m.Methods, m.Slowest = c.methods[i].since(methods), c.peers[i].slowest(peers)
			m.Slowest.Name = c.nameOf(m.Slowest.Name)
		}
	}
	// A member reports a quota since etcd 3.6.
	if quota := s.GetDbSizeQuota(); quota > 0 {
		m.Gauges[doctor.QuotaBytes] = float64(quota)
	}
}

// measure takes what a member's metrics say, and how they have changed since a sample.
func (c *checkup) measure(before members.Sample, page exposition.Page, i int, m *doctor.Member) {
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
			// A revision of -1 is none.
			m.Gauges[gauge] = max(v, 0)
		}
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

// know tells the driver the members.
func (c *checkup) know(found doctor.Cluster) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.topology.members = nil
	for i, m := range found.Members {
		if m.Problem == "" {
			c.topology.members = append(c.topology.members, member{id: c.ids[i], endpoint: m.Endpoint})
		}
	}
}

// pings are how long the members took to answer, by ID.
func (c *checkup) pings(ctx context.Context) map[string]time.Duration {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	return c.Ping(ctx)
}
