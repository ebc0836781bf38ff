package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// doTxn writes several keys in one transaction.
func doTxn(ctx context.Context, _ *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	puts := make([]clientv3.Op, len(req.Pairs))
	for i, p := range req.Pairs {
		puts[i] = clientv3.OpPut(string(p.Key), string(p.Value))
	}
	resp.Sent = load.Now()
	_, err := client.Txn(ctx).Then(puts...).Commit()
	finish(resp, err)
}

// inTransaction returns a function that carries a put or a read as the only operation of a transaction, and returns the
// response that the operation alone would have had.
func inTransaction(client *clientv3.Client) func(context.Context, clientv3.Op) (clientv3.OpResponse, error) {
	return func(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
		out, err := client.Txn(ctx).Then(op).Commit()
		switch {
		case err != nil:
			return clientv3.OpResponse{}, err
		case op.IsGet():
			got := clientv3.GetResponse{Header: out.Header}
			for _, r := range out.Responses {
				got.Count += r.GetResponseRange().GetCount()
			}
			return got.OpResponse(), nil
		}
		return (&clientv3.PutResponse{Header: out.Header}).OpResponse(), nil
	}
}

// compareAndSwap reads a key, and writes it in a transaction that compares the key's modification revision with the one
// read. The revision is always read anew: with remembered revisions, the share of lost swaps would measure this
// client's memory.
func compareAndSwap(ctx context.Context, _ *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	key := string(req.Key)
	resp.Sent = load.Now()
	got, err := client.Get(ctx, key)
	if err != nil || len(got.Kvs) == 0 {
		if finish(resp, err); err == nil {
			resp.Code, resp.Detail = load.CodeNotFound, req.Missing(0)
		}
		return
	}
	unchanged := clientv3.Compare(clientv3.ModRevision(key), "=", got.Kvs[0].ModRevision)
	out, err := client.Txn(ctx).If(unchanged).Then(clientv3.OpPut(key, string(req.Value))).Commit()
	finish(resp, err)
	resp.Lost = err == nil && !out.Succeeded
}
