package etcd

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// deleteOne deletes a key.
var deleteOne = single{
	op:    func(_ *settings, req *load.Request) clientv3.Op { return clientv3.OpDelete(string(req.Key)) },
	found: func(got clientv3.OpResponse) int64 { return got.Del().Deleted },
}
