package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// operation is how etcd is asked for an operation of the load.
type operation struct {
	// do carries a request out by clientv3; nil where own alone does.
	do func(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response)
	// own returns a connection as one client has it, with the client's global number;
	// nil if this run's clients need nothing of their own.
	own func(ctx context.Context, c *conn, client int) (load.Conn, error)
	// call is the first call over Fast; nil where Fast does not carry it.
	call *fast.Call
}

// operations has all that the driver knows.
var operations = map[spec.Operation]operation{
	spec.OperationPut:              {do: putOne.do, call: fast.PutCall},
	spec.OperationRange:            {do: doRange, call: fast.RangeCall},
	spec.OperationDelete:           {do: deleteOne.do, call: fast.DeleteCall},
	spec.OperationTxn:              {do: doTxn, call: fast.TxnCall},
	spec.OperationCompareAndSwap:   {do: compareAndSwap, call: fast.SwapCall},
	spec.OperationSTM:              {do: doSTM, own: newLockedSTM},
	spec.OperationLockAcquire:      {own: newLockCompetitor},
	spec.OperationElectionCampaign: {own: newCandidate},
	spec.OperationLeaseGrant:       {do: grantLease, call: fast.GrantCall},
	spec.OperationLeaseRevoke:      {do: revokeLease, call: fast.RevokeCall},
	spec.OperationLeaseKeepAlive:   {do: keepAliveOnce, own: newLeaseStream},
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
