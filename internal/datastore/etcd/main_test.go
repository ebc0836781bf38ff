package etcd

import (
	"os"
	"slices"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

func TestMain(m *testing.M) { os.Exit(etcdtest.RunSharded(m, 5)) }

// loadTransports are all transports that carry a load to the newest etcd, which has no v2 API.
func loadTransports() []spec.Transport {
	row, _ := spec.Etcd.Store()
	return slices.DeleteFunc(slices.Clone(row.Transports), func(t spec.Transport) bool { return !t.AnyMembers() })
}
