package plan

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Validate returns everything that keeps the plan from being run, joined, or
// nil. The API checks the same at admission; here the two sides of the contract
// protect themselves from each other's mistakes.
func (p Plan) Validate() error {
	return errors.Join(
		check(p.Version == Version, "version", Version, p.Version),
		check(p.RunUID != "", "runUID", "a UID", p.RunUID),
		check(p.Pods >= 1, "pods", "at least 1", p.Pods),
		check(isPrefix(p.Prefix), "prefix", fmt.Sprintf("printable characters that end in a slash, and at most %d slashes", maxPrefixParts), p.Prefix),
		check(p.TimeoutSeconds >= 1, "timeoutSeconds", "at least 1", p.TimeoutSeconds),
		p.Target.validate(),
		p.Workload.validate(),
		p.Load.validate(p.Pods),
		p.validateLeases(),
		p.validateContest(),
		check(p.Load.Transport != TransportFast || p.Workload.fitsFast(), "load.transport", "ClientV3 for this workload", p.Load.Transport),
		p.Guard.validate(),
		p.validateDelete(),
		p.validateWatch(),
		p.validateWatchGet(),
		p.validateKubernetes(),
		p.validateDisturbances(),
		p.validateLimits(),
	)
}

func (t Target) validate() error {
	errs := []error{
		check(len(t.Endpoints) > 0, "target.endpoints", "at least one host:port", t.Endpoints),
		check(t.Members == MembersAll || t.Members == MembersLeader || t.Members == MembersFollowers,
			"target.members", "All, Leader or Followers", t.Members),
		check(t.SampleIntervalSeconds >= 0, "target.sampleIntervalSeconds", "at least 0", t.SampleIntervalSeconds),
	}
	for _, e := range t.Endpoints {
		_, port, err := net.SplitHostPort(e)
		n, perr := strconv.ParseUint(port, 10, 16)
		errs = append(errs, check(err == nil && perr == nil && n > 0, "target.endpoints", "host:port", e))
	}
	return errors.Join(errs...)
}

var workloadTypes = []WorkloadType{
	WorkloadPut, WorkloadRange, WorkloadMixed, WorkloadDelete, WorkloadTxn, WorkloadSTM, WorkloadLock, WorkloadElection,
	WorkloadLease, WorkloadWatch, WorkloadWatchGet, WorkloadKubernetes,
}

func (w Workload) validate() error {
	return errors.Join(
		check(slices.Contains(workloadTypes, w.Type), "workload.type", fmt.Sprintf("one of %v", workloadTypes), w.Type),
		w.validateKeys(),
		w.validateInterval(),
		w.validateValues(),
		check(w.ReadsPerHundred >= 0 && w.ReadsPerHundred <= 100,
			"workload.readsPerHundred", "0 to 100", w.ReadsPerHundred),
		check(!w.InTransaction || w.Type == WorkloadMixed, "workload.inTransaction", "false but for Mixed", w.InTransaction),
		w.validateUnion(),
	)
}

// validateUnion looks at the fields that one type of workload alone has.
func (w Workload) validateUnion() error {
	return errors.Join(
		validateMember(w, WorkloadTxn, "workload.txn", w.Txn, (*Txn).validate),
		validateMember(w, WorkloadSTM, "workload.stm", w.STM, (*STM).validate),
		validateMember(w, WorkloadLease, "workload.lease", w.Lease, (*Lease).validate),
		validateMember(w, WorkloadWatch, "workload.watch", w.Watch, (*Watch).validate),
		validateMember(w, WorkloadWatchGet, "workload.watchGet", w.WatchGet, (*WatchGet).validate),
		validateMember(w, WorkloadKubernetes, "workload.kubernetes", w.Kubernetes, (*Kubernetes).validate),
	)
}

// validateMember wants what belongs to a type of workload to be there for that
// type alone.
func validateMember[T any](w Workload, t WorkloadType, field string, member *T, validate func(*T, int64) error) error {
	if (member != nil) != (w.Type == t) {
		return check(false, field, fmt.Sprintf("to be set if, and only if, workload.type is %s", t), member != nil)
	}
	if member == nil {
		return nil
	}
	return validate(member, w.KeyCount)
}

func (l Load) validate(pods int) error {
	return errors.Join(
		check(l.Transport == TransportClientV3 || l.Transport == TransportFast, "load.transport", "ClientV3 or Fast", l.Transport),
		check(l.Connections >= pods, "load.connections", fmt.Sprintf("at least one for each of %d pods", pods), l.Connections),
		check(l.Clients >= l.Connections, "load.clients", fmt.Sprintf("at least one for each of %d connections", l.Connections), l.Clients),
		check((l.Requests > 0) != (l.DurationSeconds > 0) && l.Requests >= 0 && l.DurationSeconds >= 0, "load", "either requests or durationSeconds above 0, and the other 0",
			fmt.Sprintf("%d and %d", l.Requests, l.DurationSeconds)),
		check(l.Requests == 0 || l.Requests >= int64(pods), "load.requests", fmt.Sprintf("at least one for each of %d pods", pods), l.Requests),
		check(l.WarmupSeconds >= 0, "load.warmupSeconds", "at least 0", l.WarmupSeconds),
		check(l.RequestTimeoutSeconds >= 1, "load.requestTimeoutSeconds", "at least 1", l.RequestTimeoutSeconds),
		l.validateRate(),
	)
}

func check(ok bool, field string, wanted, found any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("plan: %s: wanted %v, found %#v", field, wanted, found)
}

func isPrefix(s string) bool {
	unprintable := func(r rune) bool { return r < '!' || r > '~' }
	return len(s) >= 2 && strings.HasSuffix(s, "/") && !strings.ContainsFunc(s, unprintable) && strings.Count(s, "/") <= maxPrefixParts
}
