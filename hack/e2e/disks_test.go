//go:build e2e

package e2e

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkDisks measures the disk of a claim and that of an emptyDir. Each result names its disk, and the claim goes.
func checkDisks(t *testing.T, ns string) {
	class := classDeletes
	for name, storage := range map[string]v1alpha1.MemberStorage{
		"claim": {VolumeClaim: &v1alpha1.MemberVolumeClaim{StorageClassName: &class, Size: resource.MustParse("1Gi")}},
		"empty": {EmptyDir: &v1alpha1.MemberEmptyDir{}},
	} {
		const entries = 200
		b := newPutIn(ns, suite.side, "disk-"+name, entries)
		b.Spec.Target = v1alpha1.Target{Datastore: spec.Disk, ConcurrentRuns: v1alpha1.ConcurrentRunsAllow, Disk: &v1alpha1.DiskTarget{Storage: &storage}}
		b.Spec.Workload = spec.Workload{Type: spec.WorkloadAppend, Append: &spec.Append{}}
		b.Spec.Load = spec.Load{Pods: 1, Connections: 1, Clients: 1, Requests: new(int64(entries)), Rate: &spec.Rate{PerSecond: 50}}
		b.Spec.Guard = nil
		b = runToEnd(t, b)
		requireCompleted(t, b)
		// Each append has a flush inside.
		for _, o := range b.Status.Summary.Operations {
			if o.Succeeded != entries || o.Failed != 0 || o.Latency == nil {
				t.Errorf("%s: wanted %d of %s, found %+v", name, entries, o.Operation, o)
			}
		}
		if s := b.Status.Summary; s.MeasuredRequests != entries || len(s.Operations) != 2 {
			t.Errorf("%s: wanted %d requests of two kinds, found %d of %d", name, entries, s.MeasuredRequests, len(s.Operations))
		}
		if pods := b.Status.Pods; len(pods) != 1 || pods[0].Disk == nil || pods[0].Disk.FileSystem == "" || pods[0].Disk.FileSystem == "overlay" {
			t.Errorf("%s: wanted the disk of the pod, found %+v", name, pods)
		}
		// The claim goes with the pod, which stays until the run goes.
		if err := suite.client.Delete(suite.ctx, b); err != nil {
			t.Error(err)
		}
	}
}
