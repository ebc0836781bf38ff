//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// provisioner makes volumes of folders of this machine, which is the node. It runs in the test.
type provisioner struct{ dir string }

const provisionerName = "e2e.etcdbench.dev/folders"

// Storage classes of the suite. Nothing serves the claims of the last one.
const (
	classDeletes = "e2e-deletes"
	classKeeps   = "e2e-keeps"
	classPending = "e2e-pending"
)

func (p provisioner) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	path := filepath.Join(p.dir, o.PVName)
	// The kubelet does not change the owner of such a volume.
	if err := os.MkdirAll(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	if err := os.Chmod(path, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			Capacity:                      o.PVC.Spec.Resources.Requests,
			PersistentVolumeSource:        corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}},
		},
	}, controller.ProvisioningFinished, nil
}

func (p provisioner) Delete(_ context.Context, pv *corev1.PersistentVolume) error {
	return os.RemoveAll(filepath.Join(p.dir, pv.Name))
}

// startProvisioner creates the storage classes and serves claims until the test ends.
func startProvisioner(t *testing.T) {
	t.Helper()
	for name, class := range map[string]storagev1.StorageClass{
		classDeletes: {Provisioner: provisionerName, ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer)},
		classKeeps:   {Provisioner: provisionerName, ReclaimPolicy: new(corev1.PersistentVolumeReclaimRetain)},
		classPending: {Provisioner: "e2e.etcdbench.dev/none", ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete)},
	} {
		class.Name = name
		if err := suite.client.Create(suite.ctx, &class); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := suite.detached().client.Delete(context.Background(), &class); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		})
	}
	ctx, stop := context.WithCancel(suite.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		controller.NewProvisionController(ctx, suite.set, provisionerName, provisioner{t.TempDir()}, controller.LeaderElection(false)).Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}
