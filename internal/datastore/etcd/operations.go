package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// operation is how the driver carries out an operation of the load.
type operation struct {
	// do carries out a request over clientv3; nil if only perClient does.
	do func(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response)
	// perClient returns one client's connection, for the client with this global number; nil if this run's clients can
	// share the connection.
	perClient func(ctx context.Context, c *conn, client int) (load.Conn, error)
	// call is the first call over Fast; nil if Fast does not carry the operation.
	call *fast.Call
}

// operations has all operations that the driver knows.
var operations = map[spec.Operation]operation{
	spec.OperationPut:              {do: putOne.do, call: fast.PutCall},
	spec.OperationRange:            {do: doRange, call: fast.RangeCall},
	spec.OperationDelete:           {do: deleteOne.do, call: fast.DeleteCall},
	spec.OperationTxn:              {do: doTxn, call: fast.TxnCall},
	spec.OperationCompareAndSwap:   {do: compareAndSwap, call: fast.SwapCall},
	spec.OperationSTM:              {do: doSTM, perClient: newLockedSTM},
	spec.OperationLockAcquire:      {perClient: newLockCompetitor},
	spec.OperationElectionCampaign: {perClient: newCandidate},
	spec.OperationLeaseGrant:       {do: grantLease, call: fast.GrantCall},
	spec.OperationLeaseRevoke:      {do: revokeLease, call: fast.RevokeCall},
	spec.OperationLeaseKeepAlive:   {do: keepAliveOnce, perClient: newLeaseStream},
	spec.OperationOptimisticPut:    {do: putObject},
	spec.OperationOptimisticDelete: {do: deleteObject},
	spec.OperationListBy500:        {do: listObjects},
	spec.OperationListBy10000:      {do: listObjects},
}

// calls are those of Fast.
func calls() map[spec.Operation]*fast.Call {
	all := map[spec.Operation]*fast.Call{}
	for o, known := range operations {
		if known.call != nil {
			all[o] = known.call
		}
	}
	return all
}

// deleteOne deletes a key.
var deleteOne = single{
	op:    func(_ *settings, req *load.Request) clientv3.Op { return clientv3.OpDelete(string(req.Key)) },
	found: func(got clientv3.OpResponse) int64 { return got.Del().Deleted },
}
