package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// nothingLeft is asked once the prefix is not the run's any more: it fails if
// keys or leases of the run are there all the same, which nobody may delete
// without the marker.
//
// Who claims a prefix finds it empty. So what is older than another run's marker
// was not handed on to that run, and where no marker is, nobody owns what is
// there. Every pod that has claimed has a key, which goes under the marker only:
// where that was taken away amid the run, such a key tells.
func (d *Driver) nothingLeft(ctx context.Context, client *clientv3.Client) error {
	from, to := d.loadRange()
	out, err := commit(ctx, client, nil,
		clientv3.OpGet(d.markerKey()),
		clientv3.OpGet(d.podsPrefix(), clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(sweepBlock)),
		clientv3.OpGet(from, clientv3.WithRange(to), clientv3.WithKeysOnly(), clientv3.WithLimit(1)))
	if err != nil {
		return err
	}
	marker := out.Responses[0].GetResponseRange().Kvs
	for _, response := range out.Responses[1:] {
		for _, kv := range response.GetResponseRange().Kvs {
			if len(marker) == 0 || kv.CreateRevision < marker[0].ModRevision {
				return d.leftWithout(marker, fmt.Sprintf("the key %q", kv.Key))
			}
		}
	}
	leases, err := d.ownLeases(ctx, client)
	if err != nil || len(leases) == 0 {
		return err
	}
	return d.leftWithout(marker, fmt.Sprintf("the lease %016x", leases[0]))
}

// leftWithout is the error of what is left without the run's marker.
func (d *Driver) leftWithout(marker []*mvccpb.KeyValue, example string) error {
	found := "is gone"
	if len(marker) > 0 {
		found = fmt.Sprintf("says %q", marker[0].Value)
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"wanted the marker %s to name the run %s, but it %s, and %s is left: nothing was deleted. See who changed the marker, and delete by hand what of the prefix %s nobody needs",
		d.markerKey(), d.plan.RunUID, found, example, d.plan.Prefix)
}
