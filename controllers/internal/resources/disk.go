package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// DiskVolume is the name of the volume that a client pod measures. That of its claim is the pod's, a hyphen, and this.
const DiskVolume = "disk"

// addDisk gives a client pod the volume that it measures. No two pods of a run share a node, because each would delay the other's
// flushes.
func addDisk(run *v1alpha1.EtcdBenchmark, spec *corev1.PodSpec, user int64) {
	t := run.Spec.Target.Disk
	if t == nil {
		return
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: DiskVolume, VolumeSource: dataSource(t.DeepCopy().Storage)})
	c := &spec.Containers[0]
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: DiskVolume, MountPath: plan.DiskDir})
	if user != 0 {
		spec.SecurityContext.FSGroup = &user
	}
	keepApart(run, spec)
	if run.Spec.Guard == nil || !run.Spec.Guard.AcknowledgeControlPlane {
		keepOffControlPlane(spec)
	}
}

// keepApart allows one client pod of a run on each node.
func keepApart(run *v1alpha1.EtcdBenchmark, spec *corev1.PodSpec) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.PodAntiAffinity == nil {
		spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	terms := &spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*terms = append(*terms, corev1.PodAffinityTerm{
		TopologyKey:   hostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelComponent: v1alpha1.ComponentLoad}},
	})
}
