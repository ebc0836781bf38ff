package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// playCleanupPods lets pods of the cleanup Job end, one after the other, with
// these last words.
func (s *stage) playCleanupPods(words ...string) {
	s.t.Helper()
	s.await("a cleanup Job", func() bool { return len(s.jobs(v1alpha1.ComponentCleanup)) == 1 })
	for i, said := range words {
		a := s.makePod(&s.jobs(v1alpha1.ComponentCleanup)[0], i)
		a.kubelet(func(status *corev1.PodStatus) {
			status.Phase = corev1.PodFailed
			status.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: said, StartedAt: metav1.Now()},
			}}}
		})
		s.awaitNextSecond()
	}
}

// awaitNextSecond: the API server dates objects by whole seconds.
func (s *stage) awaitNextSecond() {
	s.t.Helper()
	begun := metav1.Now().Unix()
	s.await("the next second", func() bool { return metav1.Now().Unix() > begun })
}

// TestKeysLeftInADyingNamespace: no cleanup Job can be created in it, so the
// object, which holds the namespace, is let go at once.
func TestKeysLeftInADyingNamespace(t *testing.T) {
	s := newStage(t)
	s.playPreparing()
	s.playReady()
	s.playRunning()
	s.must(s.api.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.run.Namespace}}))
	s.must(s.api.Delete(t.Context(), s.run))
	for _, a := range s.pods {
		a.exits(137, nil)
	}
	s.awaitGone()
}
