package resources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// diskRun measures a volume on three nodes.
func diskRun(storage *v1alpha1.MemberStorage) *v1alpha1.EtcdBenchmark {
	run := newRun()
	run.Spec.Target = v1alpha1.Target{Datastore: spec.Disk, Members: spec.MembersAll, Disk: &v1alpha1.DiskTarget{Storage: storage}}
	run.Spec.Workload = spec.Workload{Type: spec.WorkloadAppend, Append: &spec.Append{EntryBytes: 2300}}
	run.Spec.Load.Pods, run.Spec.Load.Connections, run.Spec.Load.Clients = 3, 3, 3
	run.Status.Target = &v1alpha1.TargetStatus{}
	return run
}

func TestTheVolumeThatAPodMeasures(t *testing.T) {
	class := "fast"
	claim := &v1alpha1.MemberStorage{VolumeClaim: &v1alpha1.MemberVolumeClaim{StorageClassName: &class, Size: resource.MustParse("1Gi")}}
	for name, tc := range map[string]struct {
		storage *v1alpha1.MemberStorage
		is      func(corev1.VolumeSource) bool
	}{
		"none":     {nil, func(v corev1.VolumeSource) bool { return v.EmptyDir != nil }},
		"a folder": {&v1alpha1.MemberStorage{EmptyDir: &v1alpha1.MemberEmptyDir{}}, func(v corev1.VolumeSource) bool { return v.EmptyDir != nil }},
		"a claim": {claim, func(v corev1.VolumeSource) bool {
			return v.Ephemeral != nil && *v.Ephemeral.VolumeClaimTemplate.Spec.StorageClassName == class
		}},
	} {
		job := loadJob(t, diskRun(tc.storage))
		pod := job.Spec.Template.Spec
		last, mount := pod.Volumes[len(pod.Volumes)-1], pod.Containers[0].VolumeMounts[len(pod.Containers[0].VolumeMounts)-1]
		if last.Name != DiskVolume || !tc.is(last.VolumeSource) || !cmp.Equal(mount, corev1.VolumeMount{Name: DiskVolume, MountPath: plan.DiskDir}) {
			t.Errorf("%s: found the volume %+v at %+v", name, last, mount)
		}
		if *job.Spec.Completions != 3 || *pod.SecurityContext.FSGroup != 65532 || !*pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("%s: wanted three pods whose group may write the volume, and nothing else", name)
		}
	}
	if job := loadJob(t, newRun()); job.Spec.Template.Spec.SecurityContext.FSGroup != nil || strings.Contains(job.String(), plan.DiskDir) {
		t.Error("a run of an etcd has a disk")
	}
}

// Each pod has a node of its own, beside what the user wants, and stays off control planes unless the run acknowledges them.
func TestPodsThatMeasureDisksAreApart(t *testing.T) {
	run := diskRun(nil)
	run.Spec.Pod = &v1alpha1.PodSettings{Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}},
	}}}
	a := loadJob(t, run).Spec.Template.Spec.Affinity
	terms := a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(terms) != 2 || terms[0].TopologyKey != "zone" || terms[1].TopologyKey != hostname || terms[1].LabelSelector.MatchLabels[v1alpha1.LabelRunUID] != string(run.UID) {
		t.Errorf("found the terms %+v", terms)
	}
	if len(run.Spec.Pod.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Error("the Job has changed the spec of its run")
	}
	if a.NodeAffinity == nil {
		t.Error("wanted the pods to stay off control planes")
	}
	run.Spec.Guard = &spec.Guard{AcknowledgeControlPlane: true}
	if a := loadJob(t, run).Spec.Template.Spec.Affinity; a.NodeAffinity != nil {
		t.Errorf("found %+v although the run acknowledges control planes", a.NodeAffinity)
	}
}
