package resources

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// PlanConfigMap returns the ConfigMap with the plan of the client pods. It is immutable, so that late pods read the
// same plan as the first ones.
func PlanConfigMap(run *v1alpha1.EtcdBenchmark) (*corev1ac.ConfigMapApplyConfiguration, error) {
	_, encoded, err := planOf(run)
	if err != nil {
		return nil, err
	}
	return configMap(run, run.PlanName(), v1alpha1.ComponentPlan).
		WithImmutable(true).
		WithData(map[string]string{plan.File: string(encoded)}), nil
}

// ReportConfigMap returns the ConfigMap with the merged histograms.
func ReportConfigMap(run *v1alpha1.EtcdBenchmark, report []byte) *corev1ac.ConfigMapApplyConfiguration {
	return configMap(run, run.ReportConfigMapName(), v1alpha1.ComponentReport).
		WithData(map[string]string{benchmark.ReportFile: string(report)})
}

func configMap(run *v1alpha1.EtcdBenchmark, name, component string) *corev1ac.ConfigMapApplyConfiguration {
	return corev1ac.ConfigMap(name, run.Namespace).
		WithLabels(Labels(run, component)).
		WithOwnerReferences(ownerOf(run))
}

// planOf returns the plan for the addresses in status, and its encoded form.
func planOf(run *v1alpha1.EtcdBenchmark) (p plan.Plan, encoded []byte, err error) {
	var endpoints []string
	if t := run.Status.Target; t != nil {
		endpoints = t.Endpoints
	}
	if p, err = benchmark.Plan(run, endpoints); err == nil {
		encoded, err = p.Encode()
	}
	return p, encoded, err
}
