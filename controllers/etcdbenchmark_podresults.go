package controllers

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/collector"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// podResults holds the known results of a run's pods: scrapes by this operator process, termination messages in the pod
// objects, and results in status that an earlier process saved. Objects and scrapes are keyed by the pod's name.
type podResults struct {
	run     *v1alpha1.EtcdBenchmark
	objects map[string]*corev1.Pod
	scraped map[string]collector.Result
}

// addTo adds a pod's results. A pod that has an address and is not scraped yet will be scraped after this reconcile.
func (t podResults) addTo(p *lifecycle.Pod, now time.Time) {
	s := t.scraped[p.Name]
	live := s.Live
	if p.State != lifecycle.PodRunning {
		live = s.Last
	}
	left := s.Message
	if object := t.objects[p.Name]; object != nil {
		if reported := terminationOf(t.run.UID, object); reported != nil {
			left = reported
		}
	}
	if live == nil && left == nil {
		p.Last, left = t.kept(p.Name)
	}
	p.Unreachable, p.WhyUnreachable = s.Unreachable, s.Problem
	p.Choose(live, left)
	if p.IP != "" {
		p.Asked = now.Add(-s.Asked)
	}
	if s.Clock != nil {
		p.ClockOffset = new(s.Clock.Offset())
	}
}

// kept returns the result that status holds for a pod, by the way it arrived; at most one of both is set. A result in
// another operator version's encoding is lost.
func (t podResults) kept(name string) (scraped, left *results.Snapshot) {
	i := slices.IndexFunc(t.run.Status.Pods, func(p v1alpha1.PodStatus) bool { return p.Name == name && p.LastResult != "" })
	if i < 0 {
		return nil, nil
	}
	pod := t.run.Status.Pods[i]
	s := readMessage([]byte(pod.LastResult), t.run.UID, int(pod.Index))
	if pod.Source == v1alpha1.SourceTerminationMessage {
		return nil, s
	}
	return s, nil
}

// terminationOf returns nil if the message is absent, unreadable, or not from this pod and run. The pod then left no
// result.
func terminationOf(run types.UID, p *corev1.Pod) *results.Snapshot {
	message := lifecycle.TerminationMessage(p)
	if message == nil {
		return nil
	}
	return readMessage(message, run, lifecycle.IndexOf(p))
}

func readMessage(message []byte, run types.UID, index int) *results.Snapshot {
	s, err := wire.DecodeTerminationMessage(message)
	if err != nil || s.RunUID != string(run) || s.Index != index {
		return nil
	}
	return s
}

// withoutNumbers keeps only the state of the pod and of its keys.
func withoutNumbers(s *results.Snapshot) *results.Snapshot {
	if s == nil {
		return nil
	}
	return &results.Snapshot{
		RunUID: s.RunUID, Index: s.Index, Transport: s.Transport, Stage: s.Stage, Failure: s.Failure, Stopped: s.Stopped, Cleaning: s.Cleaning,
	}
}
