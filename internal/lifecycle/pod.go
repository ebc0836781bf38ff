package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// ContainerName is the name of the client container in its pod.
const ContainerName = "loadgen"

// PodState is where a client pod is, as the cluster sees it.
type PodState string

// The states of a pod.
const (
	// PodMissing: no pod with this index was ever seen.
	PodMissing PodState = "Missing"
	// PodWaiting: the pod exists and its container has not started.
	PodWaiting PodState = "Waiting"
	PodRunning PodState = "Running"
	PodEnded   PodState = "Ended"
	// PodGone: the pod was seen and is no longer there.
	PodGone PodState = "Gone"
)

// Pod is one client pod.
type Pod struct {
	Index   int
	Name    string
	Node    string
	IP      string
	Created time.Time
	State   PodState
	// DeleteBy, if set, is when the pod, which somebody has deleted, must be gone.
	DeleteBy time.Time
	// Started says that the container has run, so that it may have written keys.
	Started bool
	Ready   bool
	// Exit says how the container ended.
	Exit string
	// Exited: its node says that the container has ended, so that it does nothing
	// any more. That a pod has failed, or is gone, can be said of a silent node.
	Exited bool
	// Stuck says what keeps the container from starting, since StuckSince.
	Stuck      *Problem
	StuckSince time.Time
	// StartAt, Turn, Stop and Collected are the annotations.
	StartAt               string
	Turn, Stop, Collected bool

	// Live is the newest scrape; nil if there was none. Kept is the stage that
	// status keeps of the pod, from an operator that is gone; empty if it told none.
	Live *results.Snapshot
	Kept results.Stage
	// Last is what status keeps of what the pod had told when it could not be asked
	// any more; nil where there is no need of it.
	Last *results.Snapshot
	// Final is the pod's final result; nil until there is one.
	Final *results.Snapshot
	// Road is how the pod's measured numbers came; empty until they have.
	Road v1alpha1.ResultRoad
	// ClockOffset is how far the pod's clock is at least ahead of the operator's,
	// or, less than 0, behind it; nil if that is not known.
	ClockOffset *time.Duration
	// Unreachable says that scrapes of the running pod keep failing.
	Unreachable bool
	// Asked is since when this operator asks the pod for its numbers; zero if it
	// cannot.
	Asked time.Time
}

// NewPod returns what a pod of the load Job shows of itself.
func NewPod(p *corev1.Pod) Pod {
	out := Pod{
		Index:     indexOf(p),
		Name:      p.Name,
		Node:      p.Spec.NodeName,
		IP:        p.Status.PodIP,
		Created:   p.CreationTimestamp.Time,
		StartAt:   p.Annotations[plan.AnnotationStartAt],
		Turn:      p.Annotations[plan.AnnotationTurn] == "true",
		Stop:      p.Annotations[plan.AnnotationStop] == "true",
		Collected: p.Annotations[plan.AnnotationCollected] == "true",
		Ready:     conditionOf(p, corev1.PodReady).Status == corev1.ConditionTrue,
	}
	if p.DeletionTimestamp != nil {
		out.DeleteBy = p.DeletionTimestamp.Time
	}
	out.State, out.Started = stateOf(p)
	if out.State == PodEnded {
		out.Exit, out.Exited = exitOf(p), hasExited(p)
	}
	if out.State == PodWaiting {
		out.Stuck, out.StuckSince = stuckOf(p)
	}
	return out
}

// TerminationMessage returns what the client container left behind, nil while
// it runs.
func TerminationMessage(p *corev1.Pod) []byte {
	if t := containerOf(p).State.Terminated; t != nil && t.Message != "" {
		return []byte(t.Message)
	}
	return nil
}

// Conclude adds the results: the newest scrape, and what the termination
// message said. The scrape is preferred, since it has full resolution, also where
// the pod died while it deleted keys, so that neither says more. Of a pod
// that will not be scraped any more, what status keeps is the newest.
func (p *Pod) Conclude(live, message *results.Snapshot) {
	scraped := live
	if live == nil && p.State != PodRunning {
		live = p.Last
	}
	p.Live = live
	if s := cmp.Or(live, p.Last); s != nil && s.HasMeasured() {
		p.Road = v1alpha1.RoadScrape
	}
	switch {
	case live != nil && live.Stage == results.StageDone:
		p.Final = live
	case scraped != nil && scraped.HasMeasured() && message != nil && message.Stage != results.StageDone:
		p.Final = scraped
	case message != nil:
		p.Final, p.Road = message, v1alpha1.RoadTerminationMessage
	}
}

// Newest is the most that is known of the pod's numbers; nil if nothing is.
func (p Pod) Newest() *results.Snapshot {
	return cmp.Or(p.Final, p.Live, p.Last)
}

// CanNotBeAsked says that what the pod has told is all that it may ever tell.
func (p Pod) CanNotBeAsked() bool { return p.State != PodRunning || p.Unreachable }

// String names the pod in messages to people.
func (p Pod) String() string {
	if p.Name == "" {
		return fmt.Sprintf("client pod %d", p.Index)
	}
	return fmt.Sprintf("client pod %d (%s)", p.Index, p.Name)
}

// WasCutOff says that something else than its plan or the run ended the pod.
func (p Pod) WasCutOff() bool { return !p.DeleteBy.IsZero() || trouble(p) != nil }

// isAbandoned says that the pod should long be gone: its node does not answer.
func (p Pod) isAbandoned(now time.Time) bool {
	return p.State == PodRunning && !p.DeleteBy.IsZero() && !now.Before(p.DeleteBy.Add(abandonedAfter))
}

func (p Pod) isReady() bool {
	return p.State == PodRunning && (p.Ready || p.Live != nil && p.Live.Stage == results.StageReady)
}

func (p Pod) isPreloading() bool {
	return p.State == PodRunning && p.stage() == results.StagePreloading
}

func (p Pod) isWaiting() bool {
	return p.State == PodRunning && p.stage() == results.StageWaiting
}

// stage is the last that the pod was heard to be in, by whatever operator.
func (p Pod) stage() results.Stage {
	if s := p.Newest(); s != nil {
		return s.Stage
	}
	return p.Kept
}

// isUnheard says that a pod may yet tell this operator, which has just come,
// where it is: until then nothing may be read from its silence.
func (p Pod) isUnheard(now time.Time) bool {
	return p.State == PodRunning && p.Live == nil && p.Final == nil && !p.Unreachable && now.Before(p.Asked.Add(hearGrace))
}

// ranOutOfTime says that the pod has ended its part by its own timer.
func (p Pod) ranOutOfTime() bool {
	s := p.Newest()
	return s != nil && s.Failure != nil && s.Failure.Reason == results.FailureTimedOut
}

func (p Pod) isUnschedulable() bool {
	return p.Stuck != nil && p.Stuck.Reason == v1alpha1.ReasonUnschedulable
}

func (p Pod) isFinal() bool { return p.Final != nil }

func (p Pod) carriesStart() bool { return p.StartAt != "" }

// HasWholeResult says that every number the pod was to measure is known.
func (p Pod) HasWholeResult() bool {
	s := p.Newest()
	return s != nil && s.HasMeasured() && s.Failure == nil && !s.Stopped && trouble(p) == nil
}

// isSettled says that nothing more is to be expected of the pod.
func (p Pod) isSettled() bool { return p.isFinal() || p.State != PodRunning }

// hasMeasured says that the pod sends no more measured requests.
func (p Pod) hasMeasured() bool {
	if p.State == PodEnded || p.State == PodGone {
		return true
	}
	s := p.Newest()
	return s != nil && (s.Stage == results.StageDraining || s.Stage == results.StageCleaning || s.Stage == results.StageDone)
}

// AssignPods gives each index its pod. Before the start, the newest pod of an
// index is the one, unless it came in place of one that is gone without a word,
// and may have left keys; from the start on it is the pod whose name status holds.
// Any other is a stranger: it would send the same load again.
func AssignPods(run *v1alpha1.EtcdBenchmark, found []Pod) (pods, strangers []Pod) {
	recorded, stages := map[int]string{}, map[string]string{}
	pods = missingPods(run)
	for _, p := range run.Status.Pods {
		recorded[int(p.Index)], stages[p.Name] = p.Name, p.Stage
	}
	for _, p := range byAge(found) {
		p.Kept = results.Stage(stages[p.Name])
		if p.Index < 0 || p.Index >= len(pods) || run.Status.StartAt != nil && p.Name != recorded[p.Index] {
			strangers = append(strangers, p)
			continue
		}
		switch old := pods[p.Index]; {
		case old.State == PodGone && old.Name != p.Name:
			strangers = append(strangers, p)
			continue
		case old.State != PodMissing && old.State != PodGone:
			strangers = append(strangers, old)
		}
		pods[p.Index] = p
	}
	return pods, strangers
}

// missingPods are all pods as they are if none is found. One that no node took
// has done nothing, and the Job controller makes another.
func missingPods(run *v1alpha1.EtcdBenchmark) []Pod {
	pods := make([]Pod, run.Resolved().Load.Pods)
	for i := range pods {
		pods[i] = Pod{Index: i, State: PodMissing}
	}
	for _, p := range run.Status.Pods {
		if p.Node != "" && int(p.Index) < len(pods) {
			// Once the run ends, all are told; what this one's annotation said is gone with it.
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

// indexOf returns -1 for a pod without an index, which no Indexed Job makes.
func indexOf(p *corev1.Pod) int {
	i, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return i
}
