package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The names of the client container and of a member's container in their pods.
const (
	ContainerName       = "loadgen"
	MemberContainerName = "etcd"
)

// PodState is the state of a client pod in the cluster.
type PodState string

// The states of a pod.
const (
	// PodMissing: the operator has never seen a pod with this index.
	PodMissing PodState = "Missing"
	// PodWaiting: the pod exists and its container has not started.
	PodWaiting PodState = "Waiting"
	PodRunning PodState = "Running"
	PodEnded   PodState = "Ended"
	// PodGone: the operator has seen the pod, and it no longer exists.
	PodGone PodState = "Gone"
)

// Pod is one client pod.
type Pod struct {
	Index int
	// Name is empty for a pod without an object: one that is missing, and a part of a run without a cluster.
	Name string
	// UID and Version are those of the object that was read.
	UID     types.UID
	Version string
	Node    string
	IP      string
	Created time.Time
	State   PodState
	// DeleteBy, if set, is the end of the grace period of a deleted pod, from when the operator first saw its deletion.
	DeleteBy time.Time
	// Started means that the container has run and may have written keys.
	Started bool
	Ready   bool
	// Exit describes how the container ended.
	Exit string
	// Exited: the node confirms that the container has ended. A pod can be Failed or gone although its silent node
	// still runs the container.
	Exited bool
	// Stuck is why the container cannot start, and StuckSeen is when the operator first saw that.
	Stuck     *Problem
	StuckSeen time.Time
	// Restarts and ImageID are those of a member's container. Words is how it ended last, and Warned the newest warning about a
	// pod that waits.
	Restarts      int
	ImageID       string
	Words, Warned string
	// StartAt, Admitted, Stop and Collected are the pod's annotations.
	StartAt                   string
	Admitted, Stop, Collected bool

	// Live is the newest scrape; nil if there was none. Kept is the pod's stage in status, saved by an earlier operator
	// process; empty if it is unknown.
	Live *results.Snapshot
	Kept results.Stage
	// Last is the result in status of a pod that can no longer be scraped; nil if it is not needed.
	Last *results.Snapshot
	// Final is the pod's final result; nil until there is one.
	Final *results.Snapshot
	// Source is how the measured numbers arrived; empty until they have arrived.
	Source v1alpha1.ResultSource
	// ClockOffset is the minimum by which the pod's clock is ahead of the operator's, negative if it is behind; nil if
	// unknown.
	ClockOffset *time.Duration
	// Unreachable means that scrapes of the running pod keep failing; WhyUnreachable is the error of the last one.
	Unreachable    bool
	WhyUnreachable string
	// Asked is since when this operator process scrapes the pod; zero if it cannot.
	Asked time.Time
}

// NewPod converts a pod of the load Job. seen returns when the operator first saw something about the pod.
func NewPod(p *corev1.Pod, seen func(what string) time.Time) Pod {
	out := Pod{
		Index:     IndexOf(p),
		Name:      p.Name,
		UID:       p.UID,
		Version:   p.ResourceVersion,
		Node:      p.Spec.NodeName,
		IP:        p.Status.PodIP,
		Created:   p.CreationTimestamp.Time,
		StartAt:   p.Annotations[plan.AnnotationStartAt],
		Admitted:  p.Annotations[plan.AnnotationAdmitted] == "true",
		Stop:      p.Annotations[plan.AnnotationStop] == "true",
		Collected: p.Annotations[plan.AnnotationCollected] == "true",
		Ready:     isReady(p),
	}
	c := containerOf(p)
	out.Restarts, out.ImageID, out.Words = int(c.RestartCount), c.ImageID, howEnded(c)
	if p.DeletionTimestamp != nil {
		out.DeleteBy = seen("deletion").Add(time.Duration(ptr.Deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
	}
	out.State, out.Started = stateOf(p)
	if out.State == PodEnded {
		out.Exit, out.Exited = exitOf(p), hasExited(p)
	}
	if out.State == PodWaiting {
		if out.Stuck = stuckOf(p); out.Stuck != nil {
			out.StuckSeen = seen(out.Stuck.Reason)
		}
	}
	return out
}

// TerminationMessage returns the termination message of the client container, nil while it runs.
func TerminationMessage(p *corev1.Pod) []byte {
	if t := containerOf(p).State.Terminated; t != nil && t.Message != "" {
		return []byte(t.Message)
	}
	return nil
}

// Choose adds the newest scrape and the termination message. The scrape has the full resolution, so it wins, also if
// the pod died while it deleted keys: then neither has more numbers. For a pod that is no longer scraped, the result in
// status replaces the scrape.
func (p *Pod) Choose(live, message *results.Snapshot) {
	scraped := live
	if live == nil && p.State != PodRunning {
		live = p.Last
	}
	p.Live = live
	if s := cmp.Or(live, p.Last); s != nil && s.HasMeasured() {
		p.Source = v1alpha1.SourceScrape
	}
	switch {
	case live != nil && live.Stage == results.StageDone:
		p.Final = live
	case scraped != nil && scraped.HasMeasured() && message != nil && message.Stage != results.StageDone:
		p.Final = scraped
	case live != nil && live.HasMeasured() && message == nil && p.hasEnded():
		p.Final = live
	case message != nil:
		p.Final, p.Source = message, v1alpha1.SourceTerminationMessage
	}
}

// hasEnded reports whether no scrape of the pod can follow.
func (p Pod) hasEnded() bool { return p.State == PodEnded || p.State == PodGone }

// wasCutOffWhileDeleting reports whether the pod ended after it had measured everything, and before it had deleted its
// keys. No number is missing, and the cleanup Job deletes the keys.
func (p Pod) wasCutOffWhileDeleting() bool {
	return p.hasEnded() && p.isFinal() && p.Final.Stage == results.StageCleaning && p.HasWholeResult()
}

// Newest is the most complete known result; nil if there is none.
func (p Pod) Newest() *results.Snapshot {
	return cmp.Or(p.Final, p.Live, p.Last)
}

// newest are the newest results of all pods; nil for a pod without one.
func newest(pods []Pod) []*results.Snapshot {
	out := make([]*results.Snapshot, len(pods))
	for i, p := range pods {
		out[i] = p.Newest()
	}
	return out
}

// IsUnreachable reports whether the pod's last known result may be its final one.
func (p Pod) IsUnreachable() bool { return p.State != PodRunning || p.Unreachable }

// String names the pod in messages.
func (p Pod) String() string {
	if p.Name == "" {
		return fmt.Sprintf("client pod %d", p.Index)
	}
	return fmt.Sprintf("client pod %d (%s)", p.Index, p.Name)
}

// WasCutOff reports whether the pod was ended by something other than its plan or the run.
func (p Pod) WasCutOff() bool { return !p.DeleteBy.IsZero() || podProblem(p) != nil }

// isAbandoned reports whether the pod should be gone for some time: its node does not answer.
func (p Pod) isAbandoned(now time.Time) bool {
	return p.State == PodRunning && !p.DeleteBy.IsZero() && !now.Before(p.DeleteBy.Add(abandonedAfter))
}

func (p Pod) isReady() bool {
	return p.State == PodRunning && (p.Ready || p.Live != nil && p.Live.Stage == results.StageReady)
}

func (p Pod) isPreloading() bool {
	return p.State == PodRunning && p.stage() == results.StagePreloading
}

// isWaiting reports whether the pod has connected and may not write yet.
func (p Pod) isWaiting() bool {
	return p.State == PodRunning && (p.stage() == results.StageWaiting || p.isLocking())
}

// isLocking reports whether the pod waits for the lock of the target, which another run holds.
func (p Pod) isLocking() bool { return p.State == PodRunning && p.stage() == results.StageLocking }

// holdsLock reports whether client pod 0 has taken the lock of the target for its run. A pod that failed before is past
// the load, too.
func (p Pod) holdsLock() bool {
	return p.State == PodRunning && (p.Ready || p.stage().Reached(results.StageClaiming) && !p.stage().Reached(results.StageDraining))
}

// hasConnected reports whether the pod has checked the target. A pod that cannot be scraped counts as connected: the
// run ends if it does not become ready.
func (p Pod) hasConnected() bool {
	return p.State == PodRunning && (p.Unreachable || p.stage().Reached(results.StageWaiting))
}

// stage is the last known stage of the pod, including what an earlier operator process saved.
func (p Pod) stage() results.Stage {
	if s := p.Newest(); s != nil {
		return s.Stage
	}
	return p.Kept
}

// awaitsFirstScrape reports whether the operator, after a restart, may still get its first scrape of the pod. Until
// then, a missing result means nothing.
func (p Pod) awaitsFirstScrape(now time.Time) bool {
	return p.State == PodRunning && p.Live == nil && p.Final == nil && !p.Unreachable && now.Before(p.Asked.Add(firstScrapeGrace))
}

// ranOutOfTime reports whether the pod has ended by its own timer.
func (p Pod) ranOutOfTime() bool {
	s := p.Newest()
	return s != nil && s.Failure != nil && s.Failure.Reason == results.FailureTimedOut
}

func (p Pod) isUnschedulable() bool {
	return p.Stuck != nil && p.Stuck.Reason == v1alpha1.ReasonUnschedulable
}

func (p Pod) isFinal() bool { return p.Final != nil }

func (p Pod) carriesStart() bool { return p.StartAt != "" }

// HasWholeResult reports whether all numbers of the pod are known.
func (p Pod) HasWholeResult() bool {
	s := p.Newest()
	return s != nil && s.HasMeasured() && s.Failure == nil && !s.Stopped && podProblem(p) == nil
}

// isSettled reports whether no further result of the pod is expected.
func (p Pod) isSettled() bool { return p.isFinal() || p.State != PodRunning }

// hasMeasured reports whether the pod sends no more measured requests.
func (p Pod) hasMeasured() bool {
	if p.State == PodEnded || p.State == PodGone {
		return true
	}
	s := p.Newest()
	return s != nil && (s.Stage == results.StageDraining || s.Stage == results.StageCleaning || s.Stage == results.StageDone)
}

// AssignPods assigns a pod to each index. Before the start it takes the newest pod of an index, unless that pod
// replaced one that vanished without a report and may have left keys. From the start on it takes the pod whose name is
// in status. All other pods are extra: they would send the same load again.
func AssignPods(run *v1alpha1.EtcdBenchmark, found []Pod) (pods, extra []Pod) {
	recorded, stages := map[int]string{}, map[string]string{}
	pods = missingPods(run)
	for _, p := range run.Status.Pods {
		recorded[int(p.Index)], stages[p.Name] = p.Name, p.Stage
	}
	for _, p := range byAge(found) {
		p.Kept = results.Stage(stages[p.Name])
		if p.Index < 0 || p.Index >= len(pods) || run.Status.StartAt != nil && p.Name != recorded[p.Index] {
			extra = append(extra, p)
			continue
		}
		switch old := pods[p.Index]; {
		case old.State == PodGone && old.Name != p.Name:
			extra = append(extra, p)
			continue
		case old.State != PodMissing && old.State != PodGone:
			extra = append(extra, old)
		}
		pods[p.Index] = p
	}
	return pods, extra
}

// missingPods are the pods of the run if none is found. A pod without a node has done nothing, and the Job controller
// creates another one.
func missingPods(run *v1alpha1.EtcdBenchmark) []Pod {
	pods := make([]Pod, run.Resolved().Load.Pods)
	for i := range pods {
		pods[i] = Pod{Index: i, State: PodMissing}
	}
	for _, p := range run.Status.Pods {
		if p.Node != "" && int(p.Index) < len(pods) {
			// Once the run ends, every pod is asked to stop; the annotation of this pod is gone with it.
			pods[p.Index] = Pod{Index: int(p.Index), Name: p.Name, Node: p.Node, State: PodGone, Stop: run.Status.Ending != nil}
		}
	}
	return pods
}

func byAge(pods []Pod) []Pod {
	return slices.SortedFunc(slices.Values(pods), func(a, b Pod) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
}

// IndexOf returns -1 for a pod without an index; an Indexed Job creates none.
func IndexOf(p *corev1.Pod) int {
	i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}
