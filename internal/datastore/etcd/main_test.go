package etcd

import (
	"os"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

func TestMain(m *testing.M) { os.Exit(etcdtest.RunSharded(m, 5)) }
