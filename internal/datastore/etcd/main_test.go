package etcd

import (
	"os"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

func TestMain(m *testing.M) { os.Exit(etcdtest.RunSharded(m, 5)) }

// loadTransports are all transports that carry a load to etcd.
func loadTransports() []spec.Transport {
	row, _ := spec.Etcd.Store()
	return row.Transports
}
