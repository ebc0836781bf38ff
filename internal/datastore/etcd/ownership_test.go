package etcd

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
)

func TestOwnership(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	ownershiptest.Run(t, ownershiptest.Target{
		Claims: func(t *testing.T, run *ownership.Run) ownership.Store {
			return newDriver(t, under(cluster.Endpoints, run.Prefix, run.UID), run.Pod).claims
		},
		Own:    func(prefix string, number int64) string { return fmt.Sprintf("%s%08d", prefix, number) },
		Other:  func(prefix string) string { return prefix + "00000003x" },
		Put:    func(t *testing.T, name string) { put(t, client, name, "x") },
		Remove: func(t *testing.T, name string) { remove(t, client, name) },
		Names: func(t *testing.T, prefix string) []string {
			return slices.Sorted(maps.Keys(keysUnder(t, client, prefix)))
		},
		Steal: func(t *testing.T, run *ownership.Run) { put(t, client, run.Marker(), "run-z") },
		Full: func(t *testing.T) func() {
			raise(t, cluster, client)
			return func() {
				if _, err := client.AlarmDisarm(withTimeout(t), &clientv3.AlarmMember{}); err != nil {
					t.Fatal(err)
				}
			}
		},
		Decides: true, Dates: true,
	})
}
