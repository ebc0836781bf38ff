package plan

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Limits of numbers, equal to those of the API or higher. With them, sums and products of a plan's numbers do not
// overflow, and loops over them end in reasonable time.
const (
	// maxPrefixParts is half of etcd's default limit of comparisons: one transaction checks every prefix around a prefix.
	maxPrefixParts = 64
	maxPods        = 1_000
	maxConnections = 100_000
	maxClients     = 1_000_000
	maxRequests    = 100_000_000_000
	// Up to maxPerSecond and maxSeconds the arithmetic of a schedule is exact.
	maxPerSecond = 10_000_000
	maxSeconds   = 7 * 24 * 60 * 60
)

// wanted is the error of all checks.
var wanted = workload.Wanted

// Validate returns all errors that prevent the run, joined, or nil. The API checks the same at admission. Who makes a plan
// validates it, and Decode, which reads that of another program.
func (p Plan) Validate() error {
	return errors.Join(
		wanted(p.Version == Version, "version", Version, p.Version),
		wanted(p.RunUID != "", "runUID", "a UID", p.RunUID),
		wanted(isPrefix(p.Prefix) || p.Prefix == "" && p.Target.Dir != "", "prefix", fmt.Sprintf("printable ASCII characters without spaces, a slash at the end, and at most %d slashes", maxPrefixParts), p.Prefix),
		wanted(p.TimeoutSeconds >= 1 && p.TimeoutSeconds <= maxSeconds, "timeoutSeconds", fmt.Sprintf("1 to %d", maxSeconds), p.TimeoutSeconds),
		p.Target.validate(),
		validateLoad(p.Load),
		p.Run.Check(),
		p.Run.CheckStore(p.Target.Datastore),
		wanted(p.Ephemeral || p.Load.Transport.AnyMembers(), "load.transport", fmt.Sprintf("another one: %s needs spec.target.ephemeral", p.Load.Transport), p.Load.Transport),
		validateRules(p.Guard.Rules()),
		p.validateGuard(),
		wanted(p.Guard.MaxFreeQuotaPercent >= 0, "guard.maxFreeQuotaPercent", "at least 0", p.Guard.MaxFreeQuotaPercent),
		p.validateDisturbances(),
	)
}

func (t Target) validate() error {
	row, _ := t.Datastore.Store()
	errs := []error{
		wanted(row.TLS || t.TLS == nil, "target.tls", fmt.Sprintf("none for %s", t.Datastore), "a value"),
		wanted(len(row.Auth) > 0 || t.Auth == nil, "target.auth", fmt.Sprintf("none for %s", t.Datastore), "a value"),
		workload.Listed("target.members", t.Members, row.Members, t.Datastore),
		wanted(row.MemberIndex || t.MemberIndex == nil, "target.memberIndex", fmt.Sprintf("none for %s", t.Datastore), "a value"),
		wanted(t.MemberIndex == nil || t.Members == spec.MembersAll, "target.memberIndex", "no value with members Leader or Followers", "a value"),
		t.validateIndex(),
		wanted(len(t.Samplers) == 0 || len(t.Samplers) == len(t.Endpoints), "target.samplers", "none, or one for each of target.endpoints", t.Samplers),
		wanted(row.Folder == (t.Dir != ""), "target.dir", "a folder for a target that is one, and none for others", t.Dir),
		wanted(row.Folder == (len(t.Endpoints) == 0), "target.endpoints", "at least one host:port, and none for a folder", t.Endpoints),
		wanted(slices.Contains([]spec.UnreachableMembers{"", spec.UnreachableFail, spec.UnreachableSkip}, t.UnreachableMembers), "target.unreachableMembers", "Fail or Skip", t.UnreachableMembers),
		wanted(t.SampleIntervalSeconds >= 0 && t.SampleIntervalSeconds <= maxSeconds, "target.sampleIntervalSeconds", fmt.Sprintf("0 to %d", maxSeconds), t.SampleIntervalSeconds),
	}
	for _, e := range t.Endpoints {
		_, port, err := net.SplitHostPort(e)
		n, perr := strconv.ParseUint(port, 10, 16)
		errs = append(errs, wanted(err == nil && perr == nil && n > 0, "target.endpoints", "host:port", e))
	}
	return errors.Join(errs...)
}

func (t Target) validateIndex() error {
	if t.MemberIndex == nil {
		return nil
	}
	i, n := *t.MemberIndex, len(t.Endpoints)
	return wanted(i >= 0 && i < n, "target.memberIndex", fmt.Sprintf("0 to %d for %d addresses", n-1, n), i)
}

func validateLoad(l spec.Load) error {
	requests, seconds := l.RequestBound(), l.Duration().Seconds()
	return errors.Join(
		wanted(l.Pods >= 1 && l.Pods <= maxPods, "load.pods", fmt.Sprintf("1 to %d", maxPods), l.Pods),
		wanted(l.Connections >= l.Pods && l.Connections <= maxConnections, "load.connections", fmt.Sprintf("at least one for each of %d pods, at most %d", l.Pods, maxConnections), l.Connections),
		wanted(l.Clients >= l.Connections && l.Clients <= maxClients, "load.clients", fmt.Sprintf("at least one for each of %d connections, at most %d", l.Connections, maxClients), l.Clients),
		wanted((l.Requests != nil) != (seconds > 0) && seconds >= 0, "load", "either requests or durationSeconds, or neither with rate.stages", fmt.Sprintf("%d requests and %v s", requests, seconds)),
		wanted(l.Requests == nil || requests >= int64(l.Pods) && requests <= maxRequests, "load.requests", fmt.Sprintf("at least one for each of %d pods, at most %d", l.Pods, maxRequests), requests),
		wanted(seconds <= maxSeconds, "load.durationSeconds", fmt.Sprintf("at most %d", maxSeconds), seconds),
		wanted(l.WarmupSeconds >= 0 && l.WarmupSeconds <= maxSeconds, "load.warmupSeconds", fmt.Sprintf("0 to %d", maxSeconds), l.WarmupSeconds),
		wanted(l.RequestTimeoutSeconds >= 1 && l.RequestTimeoutSeconds <= maxSeconds, "load.requestTimeoutSeconds", fmt.Sprintf("1 to %d", maxSeconds), l.RequestTimeoutSeconds),
		wanted(l.SessionTimeout() >= time.Second && l.SessionTimeout() <= spec.MaxSessionTimeoutSeconds*time.Second, "load.sessionTimeoutSeconds", fmt.Sprintf("1 to %d", spec.MaxSessionTimeoutSeconds), l.SessionTimeout()),
		validateRate(l),
	)
}

func validateRate(l spec.Load) error {
	if l.Rate == nil {
		return nil
	}
	r, arrivals := l.Rate, []spec.Arrival{spec.ArrivalConstant, spec.ArrivalPoisson}
	forms := 0
	for _, set := range []bool{r.PerSecond != 0, r.Ramp != nil, len(r.Stages) > 0} {
		if set {
			forms++
		}
	}
	errs := []error{
		wanted(forms == 1, "load.rate", "one of perSecond, ramp and stages", forms),
		wanted(r.PerSecond >= 0 && r.PerSecond <= maxPerSecond, "load.rate.perSecond", fmt.Sprintf("1 to %d", maxPerSecond), r.PerSecond),
		wanted(slices.Contains(arrivals, r.Arrival), "load.rate.arrival", fmt.Sprintf("one of %v", arrivals), r.Arrival),
		wanted(len(r.Stages) == 0 || l.DurationSeconds == nil, "load.durationSeconds", "no value with load.rate.stages, whose seconds add up to the duration", "a value"),
		wanted(r.Ramp == nil || l.Requests == nil, "load.requests", "no value with load.rate.ramp, which needs load.durationSeconds", l.RequestBound()),
	}
	highest := int64(0)
	for _, s := range l.Stages() {
		highest = max(highest, s.From, s.To)
		errs = append(errs, wanted(min(s.From, s.To) >= 0 && s.Seconds >= 1 && s.Seconds <= maxSeconds, "load.rate",
			fmt.Sprintf("rates from 0 and 1 to %d seconds", maxSeconds), s))
	}
	if len(l.Stages()) > 0 {
		errs = append(errs, wanted(highest >= 1 && highest <= maxPerSecond, "load.rate", fmt.Sprintf("a highest rate of 1 to %d", maxPerSecond), highest))
	}
	return errors.Join(errs...)
}

// validateGuard checks the rules of the spec. The rules of a guard without any are those of every store.
func (p Plan) validateGuard() error {
	if p.Guard.StopOn == nil {
		return nil
	}
	row, _ := p.Target.Datastore.Store()
	var errs []error
	for _, rule := range p.Guard.StopOn.On() {
		errs = append(errs, workload.Listed("guard.stopOn", rule, row.StopRules, p.Target.Datastore))
	}
	return errors.Join(errs...)
}

func validateRules(r spec.StopRules) error {
	var errs []error
	number := func(field string, found, least, most int64) {
		errs = append(errs, wanted(found >= least && found <= most, "guard.stopOn."+field, fmt.Sprintf("%d to %d", least, most), found))
	}
	if d := r.DatabaseSize; d != nil {
		errs = append(errs, wanted(d.MaxBytes >= 0, "guard.stopOn.databaseSize.maxBytes", "at least 0", d.MaxBytes))
	}
	if e := r.ErrorRatio; e != nil {
		number("errorRatio.maxPerMillion", int64(e.MaxPerMillion), 0, 1_000_000)
		number("errorRatio.forSeconds", int64(e.ForSeconds), 1, maxSeconds)
	}
	if w := r.WALFsync; w != nil {
		number("walFsync.maxMeanMicroseconds", w.MaxMeanMicroseconds, 0, maxSeconds*1_000_000)
		number("walFsync.forSeconds", int64(w.ForSeconds), 1, maxSeconds)
	}
	return errors.Join(errs...)
}

func (p Plan) validateDisturbances() error {
	types := spec.DisturbanceTypes()
	var errs []error
	var seen []spec.DisturbanceType
	for _, d := range p.Disturbances {
		errs = append(errs,
			wanted(slices.Contains(types, d.Type), "disturbances.type", fmt.Sprintf("one of %v", types), d.Type),
			wanted(!slices.Contains(seen, d.Type), "disturbances.type", "each type once", d.Type),
			wanted(d.EverySeconds >= 1 && d.EverySeconds <= maxSeconds, "disturbances.everySeconds", fmt.Sprintf("1 to %d", maxSeconds), d.EverySeconds),
			wanted(d.KeepRevisions() >= 0 && (d.Compact == nil || d.Type == spec.DisturbanceCompact), "disturbances.compact", "at least 0 revisions, and no value for other types", d.KeepRevisions()),
			wanted((d.LeaseExpiry != nil) == (d.Type == spec.DisturbanceLeaseExpiry), "disturbances.leaseExpiry", "a value for type LeaseExpiry only", d.LeaseExpiry != nil),
			wanted(d.Type != spec.DisturbanceCompact || !p.ReplaysHistory(), "disturbances.type", "no Compact with watchers that read the history", d.Type),
			wanted(!d.StoreWide() || p.Guard.AllowStoreWide, "guard.allowStoreWide", fmt.Sprintf("true for %s, which affects the whole store", d.Type), false),
		)
		seen = append(seen, d.Type)
	}
	return errors.Join(errs...)
}

func isPrefix(s string) bool {
	unprintable := func(r rune) bool { return r < '!' || r > '~' }
	return len(s) >= 2 && strings.HasSuffix(s, "/") && !strings.ContainsFunc(s, unprintable) && strings.Count(s, "/") <= maxPrefixParts
}
