package controllers

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// TestCapsOfTheOperator: a run beyond them finishes, and nothing is made for it.
func TestCapsOfTheOperator(t *testing.T) {
	allowed, err := ParseHostPattern("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	s.loadJob()
	s.restart(func(r *EtcdBenchmarkReconciler) {
		r.Caps = Caps{Endpoints: []HostPattern{allowed}, PodsPerRun: 2, RunsPerNamespace: 2}
	})
	tests := map[string]struct {
		change func(*v1alpha1.EtcdBenchmark)
		reason string
		says   string
	}{
		"address": {targets(v1alpha1.Target{Endpoints: []string{"192.0.2.1:2379"}}), v1alpha1.ReasonEndpointNotAllowed, "192.0.2.1:2379"},
		"pods": {func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Load.Pods, run.Spec.Load.Connections, run.Spec.Load.Clients = 3, 3, 3
		}, v1alpha1.ReasonLimitExceeded, "--max-pods-per-run"},
	}
	for name, tc := range tests {
		refused := s.join("beyond-"+name, tc.change)
		refused.awaitFinished(tc.reason)
		refused.checkMessage(tc.says)
		if jobs := refused.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 {
			t.Errorf("%s: %d Jobs were made", name, len(jobs))
		}
	}
	s.join("waits").awaitQueued(1, s)
	third := s.join("z-one-too-many")
	third.awaitFinished(v1alpha1.ReasonLimitExceeded)
	third.checkMessage("--max-runs-per-namespace")
}

// TestTheOperatorKnowsItsControlPlane: a run on it that does not say so makes
// nothing; one that does goes on.
func TestTheOperatorKnowsItsControlPlane(t *testing.T) {
	at, err := ParseEndpointPattern("192.0.2.0/28:2379")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	s.loadJob()
	s.restart(func(r *EtcdBenchmarkReconciler) { r.Caps = Caps{ControlPlane: []EndpointPattern{at}} })
	target := targets(v1alpha1.Target{Endpoints: []string{"https://192.0.2.1:2379"}, TLS: &v1alpha1.TargetTLS{SecretName: "tls"}})
	refused := s.join("refused", target)
	refused.awaitFinished(v1alpha1.ReasonControlPlaneTarget)
	for _, says := range []string{"192.0.2.1:2379", "--control-plane-endpoints", "spec.guard.acknowledgeControlPlane"} {
		refused.checkMessage(says)
	}
	if jobs := refused.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 {
		t.Errorf("%d Jobs were made on a control plane", len(jobs))
	}
	s.join("acknowledged", target, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Guard = &v1alpha1.Guard{AcknowledgeControlPlane: true}
	}).loadJob()
}
