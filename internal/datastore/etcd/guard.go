package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// controlPlaneKeys is where a Kubernetes API server keeps its objects.
const controlPlaneKeys = "/registry/"

// guard refuses a target that the load could harm. Each pod asks, since any of
// them can be the first to write.
func (d *Driver) guard(ctx context.Context, client *clientv3.Client, t topology) error {
	if err := d.guardControlPlane(ctx, client); err != nil {
		return err
	}
	return d.guardQuota(t)
}

// guardControlPlane learns nothing where the user may not read the keys of an
// API server: there the operator's list of addresses is the guard.
func (d *Driver) guardControlPlane(ctx context.Context, client *clientv3.Client) error {
	if d.plan.Guard.AcknowledgeControlPlane {
		return nil
	}
	found, err := get(ctx, client, controlPlaneKeys, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1), clientv3.WithSerializable())
	switch {
	case codeOf(err) == codes.PermissionDenied:
		return nil
	case err != nil:
		return err
	case len(found.Kvs) == 0:
		return nil
	}
	return load.Errorf(results.FailureControlPlaneTarget,
		"%s holds the objects of a Kubernetes API server (%s keys such as %.100q): a load can take that cluster down. Name another etcd, or set spec.guard.acknowledgeControlPlane if that is what is meant",
		d.addresses(), text.Grouped(found.Count), found.Kvs[0].Key)
}

// guardQuota compares what the run is expected to write with what the quota of
// each member leaves. Pages that are free inside the database are not counted:
// how many of them there will be is not known.
func (d *Driver) guardQuota(t topology) error {
	share := d.plan.Guard.QuotaPercent()
	estimate, known := d.plan.WriteEstimate()
	if !known || share == 0 {
		return nil
	}
	for _, m := range t.members {
		free := max(m.quotaBytes-m.state.DatabaseBytes, 0)
		if m.quotaBytes > 0 && estimate/share > free/100 {
			return load.Errorf(results.FailureQuotaInsufficient,
				"the run is expected to write %s %s, which is over %d %% of the %s that the quota of %s leaves (%s of %s are used). Write less, compact and defragment the target, or set spec.guard.maxFreeQuotaPercent or spec.guard.acceptWrites",
				d.roughly(), megabytes(estimate), share, megabytes(free), m.endpoint, megabytes(m.state.DatabaseBytes), megabytes(m.quotaBytes))
		}
	}
	return nil
}

// roughly says what kind of number the estimate is.
func (d *Driver) roughly() string {
	if d.plan.WritesMore() {
		return "at least"
	}
	return "about"
}

func megabytes(bytes int64) string { return text.Grouped((bytes+500_000)/1_000_000) + " MB" }
