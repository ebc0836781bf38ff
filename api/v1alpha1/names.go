package v1alpha1

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Labels, finalizer and limits of the objects that belong to a run.
const (
	// LabelRunUID carries the UID of the EtcdBenchmark on every object of a run.
	LabelRunUID = "etcdbench.dev/run-uid"
	// LabelRunName carries the name of the EtcdBenchmark.
	LabelRunName = "etcdbench.dev/run-name"
	// LabelComponent says what an object is for: load, cleanup, plan or report.
	LabelComponent = "etcdbench.dev/component"
	// LabelManagedBy is the well-known label by which the operator's caches select.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy on every object of a run.
	ManagedBy = "etcd-benchmark-operator"

	// Finalizer is held from the first pod until the keys are deleted.
	Finalizer = "etcdbench.dev/keys"

	// MaxNameLength is the greatest length of an EtcdBenchmark's name.
	MaxNameLength = 52

	maxChildBase = 40

	// leaseDigits are the last hexadecimal digits of a lease's ID, which number
	// the leases of one run.
	leaseDigits = 6
)

// Values of LabelComponent.
const (
	ComponentLoad    = "load"
	ComponentCleanup = "cleanup"
	ComponentPlan    = "plan"
	ComponentReport  = "report"
)

// UID8 returns the first eight characters of the run's UID, which make the
// names of its children and its key prefix unique.
func (b *EtcdBenchmark) UID8() string {
	uid := string(b.UID)
	if len(uid) > 8 {
		return uid[:8]
	}
	return uid
}

// KeyPrefix returns the prefix under which every key of the run lies.
func (b *EtcdBenchmark) KeyPrefix() string {
	if p := b.Spec.Target.KeyPrefix; p != "" {
		return p
	}
	return "etcdbench/" + b.UID8() + "/"
}

// UsesLeases says whether the run may grant leases.
func (b *EtcdBenchmark) UsesLeases() bool {
	w := b.Resolved().Workload
	return w.Lease != nil || w.Kubernetes != nil || w.usesSessions() || b.letsLeasesExpire()
}

func (b *EtcdBenchmark) letsLeasesExpire() bool {
	return slices.ContainsFunc(b.Spec.Disturbances, func(d Disturbance) bool { return d.LeaseExpiry != nil })
}

// usesSessions says whether each client keeps a lease for its locks.
func (w *Workload) usesSessions() bool {
	return w.Lock != nil || w.Election != nil || w.STM != nil && w.STM.Locker != STMLockerNone
}

// FirstLease returns the lowest ID of the run's leases: a positive number that
// follows from its UID and whose last digits are 0.
func (b *EtcdBenchmark) FirstLease() int64 {
	sum := sha256.Sum256([]byte(b.UID))
	const numbers = 1<<(4*leaseDigits) - 1
	first := int64(binary.BigEndian.Uint64(sum[:])>>1) &^ numbers
	return max(first, numbers+1)
}

// RemovalCommand returns what a person types into a shell to delete the keys of
// the run, and to revoke its leases if it can have any. Under a prefix that
// somebody chose, others may have keys: there it deletes nothing unless the
// marker says that the run owns the prefix.
func (b *EtcdBenchmark) RemovalCommand() string {
	if !b.UsesLeases() {
		return b.keyRemovalCommand()
	}
	digits := fmt.Sprintf("%016x", b.FirstLease())
	return b.keyRemovalCommand() + "; etcdctl lease list | grep '^" + digits[:len(digits)-leaseDigits] + "' | xargs -r -n 1 etcdctl lease revoke"
}

func (b *EtcdBenchmark) keyRemovalCommand() string {
	prefix := b.KeyPrefix()
	if b.Spec.Target.KeyPrefix == "" {
		return "etcdctl del --prefix " + shellQuoted(prefix)
	}
	return fmt.Sprintf(`printf '%%s\n' %s '' %s '' '' | etcdctl txn`,
		shellQuoted(fmt.Sprintf("value(%q) = %q", prefix+".owner", b.UID)),
		shellQuoted(fmt.Sprintf("del --prefix %q", prefix)))
}

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// LoadJobName returns the name of the run's load Job.
func (b *EtcdBenchmark) LoadJobName() string { return b.childName("") }

// CleanupJobName returns the name of the Job that deletes keys left behind.
func (b *EtcdBenchmark) CleanupJobName() string { return b.childName("-cleanup") }

// PlanName returns the name of the ConfigMap with the plan.
func (b *EtcdBenchmark) PlanName() string { return b.childName("-plan") }

// ReportConfigMapName returns the name of the ConfigMap with the merged histograms.
func (b *EtcdBenchmark) ReportConfigMapName() string { return b.childName("-report") }

// childName is at most 57 characters long, so that "-99" and a suffix still
// fit into a pod's host name of 63.
func (b *EtcdBenchmark) childName(suffix string) string {
	base := strings.ReplaceAll(b.Name, ".", "-")
	if len(base) > maxChildBase {
		base = strings.TrimRight(base[:maxChildBase], "-")
	}
	return base + "-" + b.UID8() + suffix
}
