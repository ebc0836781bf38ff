package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// playCleanupPods ends pods of the cleanup Job, one after the other, with these termination messages.
func (s *harness) playCleanupPods(words ...string) {
	s.t.Helper()
	s.await("a cleanup Job", func() bool { return len(s.jobs(v1alpha1.ComponentCleanup)) == 1 })
	for i, reported := range words {
		a := s.makePod(&s.jobs(v1alpha1.ComponentCleanup)[0], i)
		a.kubelet(func(status *corev1.PodStatus) {
			status.Phase = corev1.PodFailed
			status.ContainerStatuses = []corev1.ContainerStatus{{Name: "loadgen", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: reported, StartedAt: metav1.Now()},
			}}}
		})
		s.awaitNextSecond()
	}
}

// awaitNextSecond: the API server's times are whole seconds.
func (s *harness) awaitNextSecond() {
	s.t.Helper()
	begun := metav1.Now().Unix()
	s.await("the next second", func() bool { return metav1.Now().Unix() > begun })
}

// TestKeysLeftInADyingNamespace: no cleanup Job can be created in the namespace, so the object, which blocks its
// deletion, is released at once.
func TestKeysLeftInADyingNamespace(t *testing.T) {
	s := newHarness(t)
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
