package v1alpha1

import "strings"

// Labels, finalizer and limits of the objects that belong to a run.
const (
	// LabelRunUID carries the UID of the EtcdBenchmark on every object of a run.
	LabelRunUID = "etcdbench.dev/run-uid"
	// LabelRunName carries the name of the EtcdBenchmark.
	LabelRunName = "etcdbench.dev/run-name"
	// LabelWorkload carries the type of the workload. The EtcdBenchmark has it, too.
	LabelWorkload = "etcdbench.dev/workload"
	// LabelSuite carries the name of the EtcdBenchmarkSuite on each of its runs, LabelCell the name of the cell with dots
	// instead of slashes, LabelRound the number of the round.
	LabelSuite = "etcdbench.dev/suite"
	LabelCell  = "etcdbench.dev/cell"
	LabelRound = "etcdbench.dev/round"
	// LabelSchedule carries the name of the EtcdBenchmarkSchedule on each of its suites.
	LabelSchedule = "etcdbench.dev/schedule"
	// AnnotationKeepReport is on the runs of a suite. It has the suite's keepReports: whether the run writes a report.
	AnnotationKeepReport = "etcdbench.dev/keep-report"
	// AnnotationProgram and the name of a target are on a suite that compares programs of one machine: the path of the
	// target's program, ": " and its version.
	AnnotationProgram = "etcdbench.dev/program-"
	// LabelComponent says what an object is for: load, cleanup, plan, report or member.
	LabelComponent = "etcdbench.dev/component"
	// LabelManagedBy is the well-known label by which the operator's caches select.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// ManagedBy is the value of LabelManagedBy on every object of a run.
	ManagedBy = "etcd-benchmark-operator"

	// Finalizer is on the object from its first pod until the keys are deleted.
	Finalizer = "etcdbench.dev/keys"

	// MaxNameLength is the greatest length of an EtcdBenchmark's name.
	MaxNameLength = 52

	maxChildBase = 40
)

// Values of LabelComponent.
const (
	ComponentLoad    = "load"
	ComponentCleanup = "cleanup"
	ComponentPlan    = "plan"
	ComponentReport  = "report"
	ComponentMember  = "member"
)

// UID8 returns the first eight characters of the run's UID. They make the names of its children and its key prefix
// unique.
func (b *EtcdBenchmark) UID8() string {
	uid := string(b.UID)
	if len(uid) > 8 {
		return uid[:8]
	}
	return uid
}

// KeyPrefix returns the prefix under which every key of the run lies; a disk has no keys.
func (b *EtcdBenchmark) KeyPrefix() string {
	if p := b.Spec.Target.KeyPrefix; p != "" {
		return p
	}
	if b.Spec.Target.Disk != nil {
		return ""
	}
	return "etcdbench/" + b.UID8() + "/"
}

// OnlyObserves reports whether the run looks at its target and writes nothing.
func (b *EtcdBenchmark) OnlyObserves() bool { return b.Spec.Workload.OnlyObserves() }

// LoadJobName returns the name of the run's load Job.
func (b *EtcdBenchmark) LoadJobName() string { return b.childName("") }

// MembersName returns the name of the Job and of the Service of the run's own members. The name of a Service begins with a
// letter.
func (b *EtcdBenchmark) MembersName() string {
	name := b.childName("-members")
	if name[0] >= '0' && name[0] <= '9' {
		name = "m-" + name
	}
	return name
}

// CleanupJobPrefix is what the names of the Jobs that delete the remaining keys begin with. The operator adds random letters,
// so that others do not know the name in advance.
func (b *EtcdBenchmark) CleanupJobPrefix() string { return b.childName("-cleanup-") }

// PlanName returns the name of the ConfigMap with the plan.
func (b *EtcdBenchmark) PlanName() string { return b.childName("-plan") }

// ReportConfigMapName returns the name of the ConfigMap with the merged histograms.
func (b *EtcdBenchmark) ReportConfigMapName() string { return b.childName("-report") }

// childName is at most 57 characters long, so that the index of a pod and a suffix still fit into a pod's host name of 63.
func (b *EtcdBenchmark) childName(suffix string) string {
	base := strings.ReplaceAll(b.Name, ".", "-")
	if len(base) > maxChildBase {
		base = strings.TrimRight(base[:maxChildBase], "-")
	}
	return base + "-" + b.UID8() + suffix
}

// Limits of the schema of status: items of a list, and characters of a text.
const (
	MaxOperations    = 16
	MaxRequestCounts = 32
	MaxErrorCodes    = 32
	MaxWarnings      = 16

	MaxWarningLength = 512
	// MaxMessageLength applies to the messages of a member and of an objective.
	MaxMessageLength = 512
	// MaxEvidenceLength applies to the message of a piece of evidence.
	MaxEvidenceLength   = 1024
	MaxGuardTextLength  = 256
	MaxMarkMemberLength = 64
	MaxPodMessageLength = 1024
)
