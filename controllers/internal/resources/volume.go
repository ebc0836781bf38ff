package resources

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// mounted is a volume with its mount path.
type mounted struct {
	name, path string
	source     corev1.VolumeSource
}

func loadVolumes(run *v1alpha1.EtcdBenchmark) []mounted {
	configMap := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: run.PlanName()}}
	control := map[string]string{
		plan.StartAtFile:   plan.AnnotationStartAt,
		plan.AdmittedFile:  plan.AnnotationAdmitted,
		plan.StopFile:      plan.AnnotationStop,
		plan.CollectedFile: plan.AnnotationCollected,
	}
	return append([]mounted{
		{"plan", plan.Dir, corev1.VolumeSource{ConfigMap: configMap}},
		{"control", plan.ControlDir, annotationFiles(control)},
	}, secretVolumes(run.Spec.Target)...)
}

func cleanupVolumes(run *v1alpha1.EtcdBenchmark) []mounted {
	return append([]mounted{
		{"plan", plan.Dir, annotationFiles(map[string]string{plan.File: planAnnotation})},
	}, secretVolumes(run.Spec.Target)...)
}

// annotationFiles creates one file per annotation. The kubelet updates the files when an annotation changes; with a
// subPath it would not.
func annotationFiles(annotations map[string]string) corev1.VolumeSource {
	var items []corev1.DownwardAPIVolumeFile
	for _, file := range slices.Sorted(maps.Keys(annotations)) {
		items = append(items, corev1.DownwardAPIVolumeFile{
			Path:     file,
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + annotations[file] + "']"},
		})
	}
	return corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: items}}
}

// secretVolumes are optional. The pod starts without them and reports which Secret or key is missing.
func secretVolumes(t v1alpha1.Target) []mounted {
	var out []mounted
	if t.TLS != nil {
		out = append(out, mounted{"tls", plan.TLSDir, secret(t.TLS.SecretName)})
	}
	if t.Auth != nil {
		out = append(out, mounted{"auth", plan.AuthDir, secret(t.Auth.SecretName)})
	}
	return out
}

func secret(name string) corev1.VolumeSource {
	return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name, Optional: new(true)}}
}

func sources(volumes []mounted) []corev1.Volume {
	var out []corev1.Volume
	for _, v := range volumes {
		out = append(out, corev1.Volume{Name: v.name, VolumeSource: v.source})
	}
	return out
}

func mounts(volumes []mounted) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, v := range volumes {
		out = append(out, corev1.VolumeMount{Name: v.name, MountPath: v.path, ReadOnly: true})
	}
	return out
}
