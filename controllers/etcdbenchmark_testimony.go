package controllers

import (
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"

	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// testimony is all that is known of what a run's pods have told: to this operator
// when it scraped them, in their own objects, and, in status, to operators that
// are gone. Objects and scrapes are by the pod's name.
type testimony struct {
	run     *v1alpha1.EtcdBenchmark
	objects map[string]*corev1.Pod
	scraped map[string]collector.Result
}

// conclude adds what a pod has told. One that has an address and is not scraped
// yet will be, from the end of this reconcile on.
func (t testimony) conclude(p *lifecycle.Pod, now time.Time) {
	s := t.scraped[p.Name]
	live := s.Live
	if p.State != lifecycle.PodRunning {
		live = s.Last
	}
	left := s.Left
	if object := t.objects[p.Name]; object != nil {
		if said := terminationOf(t.run.UID, object); said != nil {
			left = said
		}
	}
	if live == nil && left == nil {
		p.Last, left = t.kept(p.Name)
	}
	p.Unreachable = s.Unreachable
	p.Conclude(live, left)
	if p.IP != "" {
		p.Asked = now.Add(-s.Asked)
	}
	if s.Clock != nil {
		p.ClockOffset = new(s.Clock.Offset())
	}
}

// kept is what status keeps of a pod, by the road by which it came; one of both is
// nil. What a version of the operator wrote that packs results otherwise is lost.
func (t testimony) kept(name string) (scraped, left *results.Snapshot) {
	i := slices.IndexFunc(t.run.Status.Pods, func(p v1alpha1.PodStatus) bool { return p.Name == name && p.LastResult != "" })
	if i < 0 {
		return nil, nil
	}
	pod := t.run.Status.Pods[i]
	s := readMessage([]byte(pod.LastResult), t.run.UID, int(pod.Index))
	if pod.Road == v1alpha1.RoadTerminationMessage {
		return nil, s
	}
	return s, nil
}

// terminationOf returns nil for a message that is absent, unreadable, or of
// somebody else: the pod then has left no result.
func terminationOf(run types.UID, p *corev1.Pod) *results.Snapshot {
	message := lifecycle.TerminationMessage(p)
	if message == nil {
		return nil
	}
	return readMessage(message, run, lifecycle.NewPod(p).Index)
}

func readMessage(message []byte, run types.UID, index int) *results.Snapshot {
	s, err := wire.DecodeTerminationMessage(message)
	if err != nil || s.RunUID != string(run) || s.Index != index {
		return nil
	}
	return s
}

// withoutNumbers leaves what a pod says of itself and of its keys.
func withoutNumbers(s *results.Snapshot) *results.Snapshot {
	if s == nil {
		return nil
	}
	return &results.Snapshot{
		RunUID: s.RunUID, Index: s.Index, Transport: s.Transport, Stage: s.Stage, Failure: s.Failure, Stopped: s.Stopped, Cleaning: s.Cleaning,
	}
}
