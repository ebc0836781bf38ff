package doctor

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Cluster is what was read of an etcd.
type Cluster struct {
	Members []Member
	// Unlisted are voting members that no address leads to. ListUnread is why the voting members are not known; empty if they are.
	Unlisted   []string
	ListUnread string
	// Length is how long the recent window is.
	Length time.Duration
}

// Member is what was read of one member.
type Member struct {
	Name, Endpoint string
	// Problem is why the member did not answer; empty if it did. Unread is why its metrics are not known.
	Problem, Unread string
	// Refused: the member answered, and did not accept the credentials. Problem says why.
	Refused bool
	// Restricted is why its status may not be read; empty if it may.
	Restricted string
	Version    string
	// Alarms are those that it reports, of all members.
	Alarms   []Alarm
	IsLeader bool
	// HadLeader and HasLeader report whether it knew a leader at the first and at the second look.
	HadLeader, HasLeader bool
	// AppliedBefore and Applied are the index of the last entry of the log that it had applied, at the two looks; 0 if that is
	// not known.
	AppliedBefore, Applied uint64
	// Uptime is how long its process runs; 0 if that is not known.
	Uptime time.Duration
	// Ping is how long the member took to answer a ping; 0 if it did not.
	Ping time.Duration
	// Started covers the time since the process started, Recent the recent window. Each is nil if it is not known.
	Started, Recent *results.MemberWindow
	// Methods are the RPCs of the recent window, the busiest first.
	Methods []Method
	// Slowest is the peer with the longest round trips; without a name if none is known.
	Slowest Peer
	// Throttling is that of the recent window; nil if it is not known, and ThrottlingUnread says why.
	Throttling       *Periods
	ThrottlingUnread *Missing
	// Gauges are the newest values.
	Gauges map[Gauge]float64
}

// Peer is another member, and how long a round trip to it takes on average.
type Peer struct {
	Name      string
	RoundTrip time.Duration
}

// Alarm is an alarm of etcd. Member is the name of the member that it is about; empty if it is about none in particular.
type Alarm struct{ Kind, Member string }

// Gauge is a value at one moment.
type Gauge string

// The gauges.
const (
	DatabaseBytes   Gauge = "databaseBytes"
	InUseBytes      Gauge = "databaseInUseBytes"
	QuotaBytes      Gauge = "quotaBytes"
	Keys            Gauge = "keys"
	Revision        Gauge = "revision"
	CompactRevision Gauge = "compactRevision"
	Watchers        Gauge = "watchers"
	LeasesGranted   Gauge = "leasesGranted"
	LeasesRevoked   Gauge = "leasesRevoked"
	LeasesExpired   Gauge = "leasesExpired"
)

// What a diagnosis has.
type (
	Diagnosis = results.Diagnosis
	Finding   = results.Finding
	Undecided = results.Undecided
)

// Diagnose compares a cluster with the limits of etcd's documentation.
func Diagnose(c Cluster) Diagnosis {
	d := Diagnosis{Findings: []Finding{}, Undecided: []Undecided{}, NotLookedFor: slices.Concat(c.unthrottled(), c.untimed()), Unseen: c.unseen()}
	for _, check := range checks {
		found, undecided := check.look(c)
		for _, f := range found {
			f.Kind, f.Limit, f.Source = check.Kind, check.Limit, check.Source
			f.Do = cmp.Or(f.Do, check.Do)
			d.Findings = append(d.Findings, f)
		}
		for _, u := range undecided {
			u.Kind = check.Kind
			d.Undecided = append(d.Undecided, u)
		}
		if without := within(d.NotLookedFor, check.Kind); without == 0 || without < len(c.answering()) {
			d.Looked = append(d.Looked, check.Kind)
		}
	}
	blameThrottling(d.Findings)
	return d
}

// unseen are the members that were not looked at.
func (c Cluster) unseen() (out []string) {
	for _, m := range c.Members {
		if m.Problem != "" {
			out = append(out, m.Name)
		}
	}
	out = append(out, c.Unlisted...)
	if c.ListUnread != "" {
		out = append(out, "others")
	}
	return out
}

// blameThrottling: a member that is throttled takes long for flushes and commits on a fast disk, too.
func blameThrottling(all []Finding) {
	var stopped []string
	for i, f := range all {
		isOther := func(name string) bool { return !slices.Contains(stopped, name) }
		switch {
		case f.Kind == "Throttled":
			stopped = append(stopped, f.Members...)
		case (f.Kind == "SlowFlush" || f.Kind == "SlowCommit") && len(stopped) > 0 && !slices.ContainsFunc(f.Members, isOther):
			all[i].Do = "First see Throttled: without its processor, a member takes long also on a fast disk."
		}
	}
}

// within counts the entries of a kind.
func within(all []Undecided, kind string) (n int) {
	for _, u := range all {
		if u.Kind == kind {
			n++
		}
	}
	return n
}

// Check looks for one kind of fault.
type Check struct {
	// Kind is that of its findings, and Means what they say. Limit, Source and Do are as in Finding.
	Kind, Means, Limit, Source, Do string
	look                           func(Cluster) ([]Finding, []Undecided)
}

// OfCluster reports whether each member knows the answer for all.
func (c Check) OfCluster() bool { return c.Kind == "NoLeader" || c.Kind == "Alarm" }

// Checks returns all checks, that of the most important kind first.
func Checks() []Check { return slices.Clone(checks) }

// The sources of the limits.
const (
	faqFlush    = "https://etcd.io/docs/latest/faq/#what-does-the-etcd-warning-failed-to-send-out-heartbeat-on-time-mean"
	faqApply    = "https://etcd.io/docs/latest/faq/#what-does-the-etcd-warning-apply-entries-took-too-long-mean"
	alerts      = "https://github.com/etcd-io/etcd/blob/main/contrib/mixin/mixin.libsonnet"
	sizeLimit   = "https://etcd.io/docs/latest/dev-guide/limit/"
	maintenance = "https://etcd.io/docs/latest/op-guide/maintenance/"
	upgrades    = "https://etcd.io/docs/latest/upgrades/"
	ours        = "this project's own limit"
	// throttlingAlert has the alert CPUThrottlingHigh.
	throttlingAlert = "https://github.com/kubernetes-monitoring/kubernetes-mixin (CPUThrottlingHigh)"
	catchUp         = "https://etcd.io/docs/latest/op-guide/configuration/ (--snapshot-catchup-entries)"
)

// The limits.
const (
	flushLimit  = 10 * time.Millisecond
	commitLimit = 25 * time.Millisecond
	peerLimit   = 150 * time.Millisecond

	quotaShare       = 0.95
	inUseShare       = 0.5
	fragmentedBytes  = 100 << 20
	largeBytes       = 8 << 30
	quarter          = 15 * time.Minute
	leaderChanges    = 4
	failedProposals  = 5
	slowApplies      = 3
	entriesBehind    = 5_000
	historyRevisions = 100_000
	historyPerKey    = 10
	busyShare        = 0.85
)

// checks are in the order of their importance: what stops etcd, then causes, then what follows from them, then what will be a
// problem later. A process that is throttled measures slow flushes and commits on a fast disk.
var checks = []Check{
	{"NoLeader", "A member knows no leader. Without a leader, etcd serves no writes and no linearizable reads.",
		"a leader", alerts, "If no member knows one: " + noneHasLeader + " If only some do not: " + someHaveLeader, noLeader},
	{"Alarm", "etcd has raised an alarm: NOSPACE if a database has reached its quota, CORRUPT if the data of the members differ.",
		"no alarm", maintenance, "NOSPACE: " + noSpaceAdvice + " CORRUPT: " + corruptAdvice, alarms},
	{"Unreachable", "A member does not answer.",
		"all members answer", alerts, "Look whether the process runs, at its log, and at the network to it.", unreachable},
	{"Refused", "A member answers, and does not accept the credentials of this client.",
		"each member accepts the credentials", ours, "Correct the credentials, or look at the certificates and the clock of the member.", refused},
	{"Restarted", "A member restarted between the two looks of doctor.",
		"no restart", ours, "Look at the end of its earlier log, and whether its memory limit or a liveness probe ended it.", restarted},
	{"QuotaNear", "The database of a member is nearly as large as its quota.",
		"below 95 % of the quota", alerts, "Compact and defragment, or raise --quota-backend-bytes. At the quota, etcd refuses writes.", quotaNear},
	{"Throttled", "A member used up its quota of processor time. It stands still until the next period.",
		"at most 25 % of the periods of its CPU quota", throttlingAlert, "Raise or remove the CPU limit of its container, or the CPUQuota of its service. It stops etcd for a part of each 100 ms.", throttled},
	{"SlowFlush", "A member takes long to flush its write-ahead log (WAL fsync). Each write waits for this flush at a majority of the members.",
		"p99 below 10ms", faqFlush, byMembers(flushAdvice), slow(results.TimerWALFsync, flushLimit, "a flush of the write-ahead log (WAL fsync)", flushAdvice)},
	{"SlowPeer", "A round trip between two members takes long. Each write waits for the answers of a majority.",
		"p99 below 150ms", alerts, peerAdvice(true), slow(results.TimerPeerRoundTrip, peerLimit, "a round trip to another member", peerAdvice)},
	{"SlowCommit", "A member takes long to commit its database (backend commit). Writes wait meanwhile.",
		"p99 below 25ms", faqApply, byMembers(flushAdvice), slow(results.TimerBackendCommit, commitLimit, "a commit of the database (backend commit)", flushAdvice)},
	{"BusyProcessor", "A member uses nearly all of its processors.",
		"below 85 % of its processors", ours, "Give the member more processors, or send it less.", busy},
	{"LeaderChanges", "The members elected leaders often. During an election, etcd serves no writes.",
		"fewer than 4 in 15 minutes", alerts, "Look for a slow disk, a slow network or too little CPU at the members: the leader's heartbeats come too late.", manyElections},
	{"FailedProposals", "Writes failed because the members did not agree on them.",
		"at most 5 in 15 minutes", alerts, "Look for elections, and for members that are down.", manyFailures},
	{"SlowApplies", "A member took long to apply requests.",
		"fewer than 3 requests that take longer than --warning-apply-duration", ours + "; why: " + faqApply, "Look at etcd's log for \"apply request took too long\": it names the request. Large ranges and a slow disk are usual causes.", applies},
	{"SlowRequests", "A member takes long to answer the requests of an RPC.",
		"p99 of each RPC without streams, but Defragment, below 150ms", alerts, "Look for large ranges, large values and many keys in a transaction: the table shows the mean sizes. Then at the disk and the CPU.", slowRequests},
	{"Behind", "A member has applied far fewer entries of the log than the others.",
		"at most 5,000 entries", catchUp, "Look at the disk and the CPU of the member: it cannot keep up, and may need a snapshot of the leader.", behind},
	{"Fragmented", "A large part of a member's database is free space, which only defragmentation gives back to the disk.",
		"at least half of the database in use, if that is more than 100 MiB", alerts, "Defragment the members one at a time: etcdctl defrag. A member answers nothing meanwhile.", fragmented},
	{"CompactionMissing", "A member was never compacted, and keeps many old revisions. They fill its database.",
		"at most 100,000 revisions, or 10 for each key", ours + "; why: " + maintenance + "#history-compaction-v3-api-key-value-database",
		"Set --auto-compaction-retention. Kubernetes compacts by itself: look whether its API servers run.", uncompacted},
	{"LargeDatabase", "The database of a member is larger than the maximum that etcd's documentation suggests.",
		"at most 8 GiB", sizeLimit, "Find out what fills it: etcdctl get --prefix --keys-only. Move data that is no configuration elsewhere.", large},
	{"MixedVersions", "The members run different versions of etcd. It uses the features of a new version only when all members run that version.",
		"one version", upgrades, "Finish the upgrade.", mixed},
}
