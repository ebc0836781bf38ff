package benchmark

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Run returns the settings of b that decide its requests. b must have its defaults.
func Run(b *v1alpha1.EtcdBenchmark) workload.Run {
	resolved := b.Resolved()
	r := workload.Run{
		Prefix: b.KeyPrefix(), Workload: resolved.Workload, Load: resolved.Load, Disturbances: b.Spec.Disturbances,
	}
	if r.UsesLeases() {
		r.FirstLease = FirstLease(string(b.UID))
	}
	return r
}

// FirstLease returns the lowest ID of the leases of the run with this UID: a positive number from its UID, with zeros as the last digits.
func FirstLease(uid string) int64 {
	sum := sha256.Sum256([]byte(uid))
	first := int64(binary.BigEndian.Uint64(sum[:])>>1) &^ (workload.LeaseIDs - 1)
	return max(first, workload.LeaseIDs)
}

// Plan returns the plan of b's client pods against these endpoints, which are host:port with an optional scheme. b must
// have its defaults.
func Plan(b *v1alpha1.EtcdBenchmark, endpoints []string) (plan.Plan, error) {
	p := plan.Plan{
		Version:        plan.Version,
		RunUID:         string(b.UID),
		Name:           b.Namespace + "/" + b.Name,
		Run:            Run(b),
		Target:         planTarget(b.Spec.Target, endpoints),
		Guard:          guardOf(b),
		Lock:           lockOf(b),
		Ephemeral:      b.Spec.Target.Ephemeral != nil,
		TimeoutSeconds: int(b.Spec.TimeoutSeconds),
	}
	if err := errors.Join(checkStore(b), p.Validate()); err != nil {
		return plan.Plan{}, fmt.Errorf("making the plan of %s: %w", p.Name, err)
	}
	return p, nil
}

// checkStore checks what the plan does not have: the addresses before they are resolved, and the objectives.
func checkStore(b *v1alpha1.EtcdBenchmark) error {
	target := b.Spec.Target
	row, _ := target.Datastore.Store()
	errs := []error{
		workload.Wanted(row.Addresses || len(target.Endpoints) <= 1, "target.endpoints", fmt.Sprintf("one address for %s", target.Datastore), len(target.Endpoints)),
	}
	for _, o := range b.Resolved().Objectives {
		errs = append(errs, workload.Listed("objectives.type", o.Type, row.Objectives, target.Datastore))
	}
	return errors.Join(errs...)
}

// lockOf returns how a run uses the lock of its target: a run that allows others does not wait, and a target of its own
// needs none.
func lockOf(b *v1alpha1.EtcdBenchmark) *plan.Lock {
	if b.Spec.Target.IsOwn() || b.OnlyObserves() {
		return nil
	}
	if b.Spec.Target.ConcurrentRuns == v1alpha1.ConcurrentRunsAllow {
		return &plan.Lock{}
	}
	return &plan.Lock{WaitSeconds: int(b.Spec.SchedulingTimeoutSeconds)}
}

// guardOf returns the default guard for a run whose spec has none. A run that only observes needs none.
func guardOf(b *v1alpha1.EtcdBenchmark) spec.Guard {
	if b.OnlyObserves() {
		return spec.Guard{StopOn: &spec.StopRules{}}
	}
	if b.Spec.Guard == nil {
		return spec.DefaultGuard()
	}
	return *b.Spec.Guard
}

func planTarget(t v1alpha1.Target, endpoints []string) plan.Target {
	out := plan.Target{
		Datastore: t.Datastore, Endpoints: v1alpha1.HostPorts(endpoints), Members: t.Members,
		UnreachableMembers: t.UnreachableMembers, SampleIntervalSeconds: int(t.SampleIntervalSeconds),
	}
	if t.Disk != nil {
		out.Dir = plan.DiskDir
	}
	if t.Ephemeral != nil {
		out.Samplers = samplersOf(out.Endpoints)
	}
	if t.MemberIndex != nil {
		out.MemberIndex = new(int(*t.MemberIndex))
	}
	if t.TLS != nil {
		out.TLS = &plan.TLS{Dir: plan.TLSDir, SecretName: t.TLS.SecretName, ServerName: t.TLS.ServerName}
	}
	if t.Auth != nil {
		out.Auth = &plan.Auth{Dir: plan.AuthDir, SecretName: t.Auth.SecretName}
	}
	return out
}

// samplersOf are the addresses of the samplers in the pods of members.
func samplersOf(endpoints []string) (all []string) {
	for _, e := range endpoints {
		host, _, _ := net.SplitHostPort(e)
		all = append(all, net.JoinHostPort(host, strconv.Itoa(plan.SamplerPort)))
	}
	return all
}

// Leftover returns what a user does about keys and leases that b has left in its target.
func Leftover(b *v1alpha1.EtcdBenchmark) workload.Leftover {
	var endpoints []string
	if b.Status.Target != nil {
		endpoints = b.Status.Target.Endpoints
	}
	r := Run(b)
	return r.Leftover(b.Spec.Target.Datastore, endpoints)
}
