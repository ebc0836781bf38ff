package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
)

// Answers implements load.Prober. It uses connections of its own, because those of the load may be the ones that are
// dead.
func (d *Driver) Answers(ctx context.Context) bool {
	serving, err := d.serving(ctx)
	return err == nil && remote.Answered(ctx, serving, d.answers)
}

// answers reports whether a linearizable read of the marker was answered. A login reads linearizably, too.
func (d *Driver) answers(ctx context.Context, endpoint string) bool {
	creds, err := d.secrets()
	if err != nil {
		return false
	}
	config := d.config(creds, nil, endpoint)
	config.Context = ctx
	client, err := clientv3.New(config)
	if err == nil {
		defer client.Close()
		_, err = client.Get(ctx, d.run.Marker())
	}
	if ctx.Err() != nil {
		return false
	}
	switch codeOf(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return false
	case codes.Unknown:
		return !d.hidesOutages
	}
	return true
}
