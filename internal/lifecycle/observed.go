package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Observed is everything that is known about a run at one moment. Decide never changes it.
type Observed struct {
	// Run is the object as it was read; its status holds the state of the run.
	Run *v1alpha1.EtcdBenchmark
	// Seen is when the operator first saw the states of the run.
	Seen   Seen
	Target Target
	// Caps are the operator's limits; RunsBefore is the result of the function RunsBefore.
	Caps       Caps
	RunsBefore int64
	// Place is the place of a run that waits for runs at its addresses.
	Place   Place
	Job     Job
	Cleanup Cleanup
	// Pods has one entry per index, including missing pods.
	Pods []Pod
	// The other pods of the load Job take no part in the run, for example a replacement of a lost pod after the start.
	ExtraPods []Pod
	// Members are those of spec.target.ephemeral.
	Members Members
	// Kubelets are what is known about the members' pods from the kubelets of their nodes.
	Kubelets Kubelets
	// PodsLive means that Pods were read from the API server and not from the cache.
	PodsLive bool
	// SharesNode means that members run on the machine of all pods. It is set for a run without a cluster, where no node has
	// a name.
	SharesNode bool
}

// Kubelets are the figures of kubelets. It is empty for a run without a cluster or with members of its own, and if the
// operator does not read kubelets.
type Kubelets struct {
	// Unknown is why no member has figures.
	Unknown string
	// Members has the figures by address; it is complete unless Pending.
	Members map[string]v1alpha1.KubeletFigures
	// Pending: the run has measured, and kubelets are still read.
	Pending bool
}

// of sets the figures of a member at the end of its run. It returns nil if the run has none, and no reason.
func (k Kubelets) of(endpoint string) func(*v1alpha1.MemberSummary) {
	known, found := k.Members[endpoint]
	switch {
	case found:
	case k.Unknown != "":
		known.Unknown = k.Unknown
	case k.Pending:
		known.Unknown = "the run ended before kubelets had sampled after the window"
	case k.Members != nil:
		known.Unknown = "no pod of the target has the address " + endpoint
	default:
		return nil
	}
	return func(m *v1alpha1.MemberSummary) { m.Kubelet = &known }
}

// Seen is when this operator process first saw a state of the run. A state that it has not seen before has the zero value,
// which counts as now.
type Seen struct {
	// Run is the object, Ending that it ends early, End that it has finished, Deletion that it is being deleted.
	Run, Ending, End, Deletion time.Time
}

// by replaces zero values.
func (s Seen) by(now time.Time) Seen {
	for _, at := range []*time.Time{&s.Run, &s.Ending, &s.End, &s.Deletion} {
		if at.IsZero() {
			*at = now
		}
	}
	return s
}

// Target is the resolved target. It is used only until status.target has endpoints.
type Target struct {
	// Endpoints are host:port, sorted; empty until every object that the run names exists.
	Endpoints []string
	// Names holds the addresses for NamesToLookUp.
	Names Names
	// Nodes are the known nodes of the members, sorted.
	Nodes []string
	// NotReady is how many members exist or are planned, and are not ready. Starting is how many of them may become ready
	// soon.
	NotReady, Starting int
	// Missing describes the object that does not exist.
	Missing string
}

// Job is the load Job.
type Job struct {
	Exists bool
	UID    types.UID
	// Seen is when the operator first saw it.
	Seen time.Time
	// Refused is the API server's message if it refuses the Job's pods, and RefusalSeen is when the operator first saw that.
	Refused     string
	RefusalSeen time.Time
}

// Cleanup is the Job that deletes the remaining keys.
type Cleanup struct {
	Exists   bool
	Deleting bool
	// Seen is when the operator first saw it. A Job that it sees together with the run's deletion is seen before that.
	Seen      time.Time
	Succeeded bool
	// Failed is why the Job failed; empty otherwise.
	Failed string
	// StillWrites: it failed because a client pod showed that it lives. Spared: it left keys that the run did not write,
	// or that are no longer the run's.
	StillWrites, Spared bool
}

// isCleanupNamed reports whether status has the name of a cleanup Job that may not exist yet.
func (o Observed) isCleanupNamed() bool {
	job := o.status().CleanupJob
	return job != nil && job.UID == ""
}

// isWorking reports whether the Job has not ended.
func (c Cleanup) isWorking() bool { return c.Exists && !c.Deleting && !c.Succeeded && c.Failed == "" }

func (o Observed) spec() *v1alpha1.EtcdBenchmarkSpec     { return &o.Run.Spec }
func (o Observed) status() *v1alpha1.EtcdBenchmarkStatus { return &o.Run.Status }
func (o Observed) deleting() bool                        { return !o.Run.DeletionTimestamp.IsZero() }
func (o Observed) finished() bool                        { return o.Run.HasFinished() }

func (o Observed) cleaned() bool {
	return meta.IsStatusConditionTrue(o.status().Conditions, v1alpha1.ConditionCleaned)
}

// message is the message of the stage in status.
func (o Observed) message() string {
	if c := meta.FindStatusCondition(o.status().Conditions, v1alpha1.ConditionFinished); c != nil {
		return c.Message
	}
	return ""
}

// stage is the stage in status.
func (o Observed) stage() string {
	c := meta.FindStatusCondition(o.status().Conditions, v1alpha1.ConditionFinished)
	if c == nil || !slices.Contains(stages, c.Reason) {
		return v1alpha1.StagePending
	}
	return c.Reason
}

func (o Observed) resolved() bool { return isResolved(o.Run) }

func (o Observed) started() time.Time {
	if o.status().StartTime == nil {
		return time.Time{}
	}
	return o.status().StartTime.Time
}

// allPods are all pods of the load Job, including those that take no part in the run.
func (o Observed) allPods() []Pod { return slices.Concat(o.Pods, o.ExtraPods) }

func (o Observed) everyPod(is func(Pod) bool) bool {
	return !slices.ContainsFunc(o.Pods, func(p Pod) bool { return !is(p) })
}

func (o Observed) countPods(is func(Pod) bool) int {
	n := 0
	for _, p := range o.Pods {
		if is(p) {
			n++
		}
	}
	return n
}

// stages in order.
var stages = []string{
	v1alpha1.StagePending, v1alpha1.StageQueued, v1alpha1.StageStarting, v1alpha1.StagePreparing, v1alpha1.StageArmed,
	v1alpha1.StageRunning, v1alpha1.StageCollecting,
}

// later returns the later of two stages. Preparing may change to Queued, because the run has not touched its target
// before that.
func later(now, next string) string {
	if now == v1alpha1.StagePreparing && next == v1alpha1.StageQueued {
		return next
	}
	if slices.Index(stages, now) > slices.Index(stages, next) {
		return now
	}
	return next
}
