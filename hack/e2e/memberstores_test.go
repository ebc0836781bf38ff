//go:build e2e

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// storeMembers are images of other stores, built of what tests use, and settings of their members.
var storeMembers = map[spec.Datastore]struct {
	image, folder string
	settings      map[string]v1alpha1.MemberSetting
}{
	spec.ZooKeeper: {"docker.io/library/zookeeper:3.9.5", "zookeeper", map[string]v1alpha1.MemberSetting{"snapCount": "10000", "jvmFlags": "-Xms64m -Xmx128m"}},
	spec.Consul:    {"docker.io/hashicorp/consul:1.10.12", "consul", map[string]v1alpha1.MemberSetting{"performance.raft_multiplier": "1"}},
}

// checkStoreMembers runs a benchmark on three members of each other store. The result has what their processes used, and
// nothing is left.
func checkStoreMembers(t *testing.T) {
	for store, members := range storeMembers {
		t.Run(string(store), func(t *testing.T) {
			dockerfile := filepath.Join("hack", "images", members.folder, "Dockerfile")
			if _, err := suite.command("go", "run", "./hack/cluster", "build-image", "-f", dockerfile, "-t", members.image, filepath.Join("bin", "tools")); err != nil {
				t.Fatal(err)
			}
			ns := namespace(t, "members-of-"+members.folder)
			b := awaitMembersGone(t, create(t, newOwn(ns, members.folder, 500, func(b *v1alpha1.EtcdBenchmark) {
				b.Spec.Target.Datastore = store
				b.Spec.Target.Ephemeral.Image, b.Spec.Target.Ephemeral.Settings = members.image, members.settings
				b.Spec.Workload.Put.Keys = spec.Keys{Count: 1000, SizeBytes: 8, Distribution: spec.Sequential}
				b.Spec.Load.Connections, b.Spec.Load.Clients = 10, 10
			})))
			requireCompleted(t, b)
			requireMeasured(t, b, 500)
			if s := b.Status.Summary; s == nil || len(s.Members) != 3 {
				t.Fatalf("wanted the figures of three members, found %+v", s)
			}
			for _, m := range b.Status.Summary.Members {
				if m.Unknown != "" || m.CPUMillicores == nil || m.MemoryBytes == nil || m.StorageWrittenBytes == nil || *m.StorageWrittenBytes <= 0 || m.PodReceivedBytes == nil || *m.PodReceivedBytes <= 0 {
					t.Errorf("wanted what the sampler of %s has measured, found %+v", m.Name, m)
				}
			}
			requireNoMembers(t, ns)
		})
	}
}
