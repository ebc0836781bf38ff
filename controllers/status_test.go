package controllers

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// TestStartReplacesOnlyOneThatWasSeen: if two operators choose a start, for example while the lease changes, one of
// them must fail.
func TestStartReplacesOnlyOneThatWasSeen(t *testing.T) {
	s := newHarness(t, targets(byService(intstr.FromString("client"))))
	s.awaitSeen()
	s.end()
	r := &EtcdBenchmarkReconciler{Client: s.api}
	var seen [2]v1alpha1.EtcdBenchmark
	for i := range seen {
		s.must(s.api.Get(t.Context(), client.ObjectKeyFromObject(s.run), &seen[i]))
	}
	write := func(i int) error {
		status := seen[i].Status.DeepCopy()
		status.StartAt = new(metav1.NewMicroTime(time.Now().Add(time.Duration(i) * time.Hour)))
		return r.writeStatus(t.Context(), &seen[i], status)
	}
	s.must(write(0))
	if err := write(1); !apierrors.IsConflict(err) {
		t.Errorf("wanted a conflict, found %v", err)
	}
	if got := s.status().StartAt; !got.Equal(seen[0].Status.StartAt) {
		t.Errorf("wanted the first start to stay, found %s", got)
	}
}
