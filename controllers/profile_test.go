package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestAProfileBecomesAPlan(t *testing.T) {
	s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Workload, run.Spec.Load, run.Spec.Profile = spec.Workload{}, spec.Load{}, v1alpha1.ProfileSmall
	})
	configMap := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: s.run.Namespace, Name: s.run.PlanName()}
	s.await("a plan", func() bool { return s.api.Get(t.Context(), key, configMap) == nil })
	p, err := plan.Decode([]byte(configMap.Data[plan.File]))
	s.must(err)
	if p.Pods() != 1 || p.Load.Rate.PerSecond != 150 || p.Load.Clients != 50 || p.Values().SizeBytes != 1024 {
		t.Errorf("wanted the plan of the profile, found %+v", p)
	}
	s.await("what the profile stands for in status", func() bool {
		r := s.status().Resolved
		return r != nil && r.Load.Rate.PerSecond == 150 && r.Workload.Put.Keys.SizeBytes == 256 && len(r.Objectives) == 4
	})
}
