package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// withDisk measures the disks of two nodes.
func withDisk(storage *v1alpha1.MemberStorage) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target = v1alpha1.Target{Datastore: spec.Disk, Disk: &v1alpha1.DiskTarget{Storage: storage}}
		run.Spec.Workload = spec.Workload{Type: spec.WorkloadAppend, Append: &spec.Append{EntryBytes: 2300}}
	}
}

// onADisk is what a pod reports of its disk, and of 50 entries.
func onADisk(s *results.Snapshot) {
	measured(s)
	s.Operations = map[spec.Operation]*results.OperationResult{spec.OperationAppend: s.Operations[spec.OperationPut], spec.OperationFlush: {}}
	for range 50 {
		s.Operations[spec.OperationFlush].Latency.Record(2_000_000)
	}
	s.Target = &results.Target{Disk: &results.Disk{Device: "/dev/vdb", FileSystem: "ext4", Options: "rw"}}
}

// A run of disks needs no address, leaves nothing, and has a result per pod.
func TestRunMeasuresDisks(t *testing.T) {
	s := newHarness(t, withDisk(nil))
	pod := s.loadJob().Spec.Template.Spec
	if last := pod.Volumes[len(pod.Volumes)-1]; last.Name != resources.DiskVolume || last.EmptyDir == nil {
		t.Errorf("found the volume %+v, wanted an emptyDir to measure", last)
	}
	s.playPreparing()
	s.playReady()
	s.playRunning()
	for _, a := range s.pods {
		a.reports(results.StageDone, onADisk, withKeysDeleted)
	}
	s.awaitFinished(v1alpha1.ReasonCompleted)
	s.awaitCondition(v1alpha1.ConditionCleaned, "True/"+v1alpha1.ReasonKeysDeleted)
	status := s.status()
	if t := status.Target; t == nil || len(t.Endpoints) > 0 || t.KeyPrefix != "" {
		s.t.Errorf("found the target %+v, wanted one without addresses and keys", t)
	}
	for _, p := range status.Pods {
		if d := p.Disk; d == nil || d.Device != "/dev/vdb" || d.FileSystem != "ext4" || d.FlushP50Microseconds < 1990 || d.FlushMaxMicroseconds != 2000 {
			t.Errorf("pod %d: found the disk %+v", p.Index, d)
		}
	}
	if len(status.Pods) != 2 {
		t.Errorf("found %d pods, wanted 2", len(status.Pods))
	}
}

// Volumes that outlive their claims are not created.
func TestDisksOfAClassThatKeepsVolumes(t *testing.T) {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{GenerateName: "kept-"}, Provisioner: "example.org/disks", ReclaimPolicy: new(corev1.PersistentVolumeReclaimRetain)}
	if err := cluster.api.Create(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.api.Delete(t.Context(), class) })
	storage := &v1alpha1.MemberStorage{VolumeClaim: &v1alpha1.MemberVolumeClaim{StorageClassName: &class.Name}}
	storage.VolumeClaim.Size.Set(1 << 30)
	s := newHarness(t, withDisk(storage))
	s.awaitFinished(v1alpha1.ReasonTargetUnhealthy)
	if jobs := s.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 {
		t.Errorf("found %d Jobs, wanted none", len(jobs))
	}
	for _, c := range s.status().Conditions {
		if c.Type == v1alpha1.ConditionFinished && !strings.Contains(c.Message, class.Name+" keeps volumes") {
			t.Errorf("found the message %q", c.Message)
		}
	}
}

// unreadClasses is the API server of an operator that may not read storage classes.
type unreadClasses struct{ client.Reader }

func (r unreadClasses) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, ok := object.(*storagev1.StorageClass); ok {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "storageclasses"}, key.Name, errors.New("no right"))
	}
	return r.Reader.Get(ctx, key, object, options...)
}

// An operator that may not read the class of a disk says that volumes may be left.
func TestDisksOfAnUnreadClass(t *testing.T) {
	s := newHarness(t)
	s.restart(func(r *EtcdBenchmarkReconciler) { r.APIReader = unreadClasses{r.APIReader} })
	class := "any"
	storage := &v1alpha1.MemberStorage{VolumeClaim: &v1alpha1.MemberVolumeClaim{StorageClassName: &class}}
	storage.VolumeClaim.Size.Set(1 << 30)
	disk := s.join("disk", withDisk(storage))
	disk.loadJob()
	disk.await("a note about the class", func() bool {
		t := disk.status().Target
		return t != nil && t.ClassUnread
	})
}
