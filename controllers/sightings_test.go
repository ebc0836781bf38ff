package controllers

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// TestSightingsAreForgottenAtTheEnd: they have an entry for each pod, and objects stay for a long time: because keys are
// left, or because of their TTL.
func TestSightingsAreForgottenAtTheEnd(t *testing.T) {
	for name, play := range map[string]func(*harness){
		"keys left": func(s *harness) {
			s.endWithKeys()
			s.playCleanup(failedCleanup)
			s.awaitCondition(v1alpha1.ConditionCleaned, "False/"+v1alpha1.ReasonKeysLeft)
		},
		"keys deleted later": func(s *harness) {
			s.endWithKeys()
			s.playCleanup(batchv1.JobStatus{Succeeded: 1})
			s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonKeysDeleted)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.TTLSecondsAfterFinished = new(int32(3600)) })
			var operator *EtcdBenchmarkReconciler
			s.awaitSeen()
			s.restart(func(r *EtcdBenchmarkReconciler) { operator = r })
			play(s)
			s.await("the operator to forget what it has seen of the run", func() bool {
				operator.sightings.mutex.Lock()
				defer operator.sightings.mutex.Unlock()
				return len(operator.sightings.runs) == 0
			})
		})
	}
}
