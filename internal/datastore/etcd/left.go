package etcd

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// checkNothingLeft is called once the prefix no longer belongs to the run. It fails if keys or leases of the run are
// left, because they may not be deleted without the marker.
//
// A run claims only an empty prefix. So keys older than another run's marker are not that run's, and without a marker
// all keys are left over. Every pod that has claimed has a key that is deleted only under the marker: if the marker
// disappeared during the run, the pod's key shows it.
func (d *Driver) checkNothingLeft(ctx context.Context, client *clientv3.Client) error {
	from, to := d.loadRange()
	pods, end := podsOf(d.plan.Prefix)
	out, err := commit(ctx, client, nil,
		clientv3.OpGet(d.markerKey()),
		clientv3.OpGet(pods, clientv3.WithRange(end), clientv3.WithKeysOnly(), clientv3.WithLimit(sweepBlock)),
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

// leftWithout is the error of keys or leases that are left without the run's marker.
func (d *Driver) leftWithout(marker []*mvccpb.KeyValue, example string) error {
	found := "is gone"
	if len(marker) > 0 {
		found = fmt.Sprintf("names %q", ownerIn(marker[0].Value))
	}
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the marker %s should name the run %s, but it %s, and %s is left: nothing was deleted. Find out what changed the marker, and delete the keys under the prefix %s by hand if they are not needed",
		d.markerKey(), d.plan.RunUID, found, example, d.plan.Prefix)
}
