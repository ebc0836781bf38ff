package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// lifeSign is the content of a pod's key. The times are those of the pod's clock.
type lifeSign struct {
	Began time.Time `json:"began"`
	Seen  time.Time `json:"seen"`
	// RequestTimeoutSeconds is how long a request of the pod can be in flight.
	RequestTimeoutSeconds int32 `json:"requestTimeoutSeconds"`
}

// lifeSign returns a new sign of life of this pod.
func (d *Driver) lifeSign() string {
	now := time.Now().UTC().Truncate(time.Second)
	d.began.CompareAndSwap(nil, &now)
	data, _ := json.Marshal(lifeSign{Began: *d.began.Load(), Seen: now, RequestTimeoutSeconds: d.plan.Load.RequestTimeoutSeconds})
	return string(data)
}

// Sign implements load.Driver.
func (d *Driver) Sign(ctx context.Context) error {
	client, err := d.controlClient(ctx)
	if err != nil {
		return err
	}
	out, err := client.Txn(ctx).If(d.mayWrite()...).Then(clientv3.OpPut(d.podKey(), d.lifeSign())).Commit()
	if err == nil && !out.Succeeded {
		return load.ErrDisowned
	}
	return d.signError(err)
}

// mayWrite holds while the run owns its prefix and this pod has not been given up.
func (d *Driver) mayWrite() []clientv3.Cmp {
	return []clientv3.Cmp{d.ownsPrefix(), clientv3.Compare(clientv3.CreateRevision(d.podKey()), ">", 0)}
}

// signError marks the error of a target that answers and refuses. An overloaded target, and a kine without its database, do
// not refuse for good.
func (d *Driver) signError(err error) error {
	code := codeOf(err)
	switch {
	case err == nil, passes(err), code == codes.DeadlineExceeded, code == codes.Canceled,
		errors.Is(rpctypes.Error(err), rpctypes.ErrTooManyRequests), d.hidesOutages && code == codes.Unknown:
		return err
	}
	return fmt.Errorf("%w: %w", load.ErrRefused, err)
}

// Signs implements load.Driver.
func (d *Driver) Signs(ctx context.Context) (map[string]int64, error) {
	client, err := d.controlClient(ctx)
	if err != nil {
		return nil, settled(ctx, err, d.addresses())
	}
	pods, end := podsOf(d.plan.Prefix)
	found, err := get(ctx, client, pods, clientv3.WithRange(end), clientv3.WithKeysOnly())
	if err != nil {
		return nil, settled(ctx, err, d.addresses())
	}
	return revisions(found.Kvs), nil
}

// revisions returns the revision of each key.
func revisions(keys []*mvccpb.KeyValue) map[string]int64 {
	out := make(map[string]int64, len(keys))
	for _, kv := range keys {
		out[string(kv.Key)] = kv.ModRevision
	}
	return out
}
