package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Observed is all that is known of a run at one moment. Decide never changes it.
type Observed struct {
	// Run is the object as it was read; its status is the run's memory.
	Run    *v1alpha1.EtcdBenchmark
	Target Target
	// Caps are the operator's; RunsBefore is what RunsBefore returns.
	Caps       Caps
	RunsBefore int64
	// Place is that of a run that awaits its turn.
	Place   Place
	Job     Job
	Cleanup Cleanup
	// Pods has one entry for each index, known or not.
	Pods []Pod
	// Strangers are pods of the load Job that take no part: they came after the
	// start in place of one that was lost.
	Strangers []Pod
	// PodsLive says that Pods were read past the cache.
	PodsLive bool
}

// Target is what the target was resolved to; it is looked at only until
// status.target has endpoints.
type Target struct {
	// Endpoints are host:port, sorted; empty until all that the run names exists.
	Endpoints []string
	// Names has what NamesToLookUp asks for.
	Names Names
	// Nodes that the members are on, sorted, as far as that is known.
	Nodes []string
	// Missing says what does not exist.
	Missing string
}

// Job is the load Job.
type Job struct {
	Exists  bool
	UID     types.UID
	Created time.Time
	// Refused is the API server's message when it refuses the Job's pods, since
	// RefusedSince.
	Refused      string
	RefusedSince time.Time
}

// Cleanup is the Job that deletes keys left behind.
type Cleanup struct {
	Exists    bool
	Deleting  bool
	Created   time.Time
	Succeeded bool
	// Failed says why it failed; empty otherwise.
	Failed string
}

func (o Observed) spec() *v1alpha1.EtcdBenchmarkSpec     { return &o.Run.Spec }
func (o Observed) status() *v1alpha1.EtcdBenchmarkStatus { return &o.Run.Status }
func (o Observed) deleting() bool                        { return !o.Run.DeletionTimestamp.IsZero() }

func (o Observed) finished() bool {
	return meta.IsStatusConditionTrue(o.status().Conditions, v1alpha1.ConditionFinished)
}

func (o Observed) cleaned() bool {
	return meta.IsStatusConditionTrue(o.status().Conditions, v1alpha1.ConditionCleaned)
}

// stage is the stage that status states; it never goes back.
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

// allPods are the pods of the load Job, strangers included.
func (o Observed) allPods() []Pod { return slices.Concat(o.Pods, o.Strangers) }

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
	v1alpha1.StagePending, v1alpha1.StageQueued, v1alpha1.StagePreparing, v1alpha1.StageArmed,
	v1alpha1.StageRunning, v1alpha1.StageCollecting,
}

// later returns the stage that comes later in a run. A run that was being
// prepared may have to queue: that is no step back, for it has done nothing to
// its target.
func later(now, next string) string {
	if now == v1alpha1.StagePreparing && next == v1alpha1.StageQueued {
		return next
	}
	if slices.Index(stages, now) > slices.Index(stages, next) {
		return now
	}
	return next
}
