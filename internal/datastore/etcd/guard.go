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

// guard refuses a target that the load could harm. Each pod checks, since any of them can be the first to write.
func (d *Driver) guard(ctx context.Context, client *clientv3.Client, t topology) error {
	if err := d.guardControlPlane(ctx, client); err != nil {
		return err
	}
	if err := guardFull(t); err != nil {
		return err
	}
	return d.guardQuota(t)
}

// firstWrites is the room that the lock and the claim of a run need in a database, in bytes.
const firstWrites = 1 << 10

// guardFull refuses a member whose quota is used up: etcd raises the alarm NOSPACE at the next write, or grant of a
// lease. Free pages count as used until the database is defragmented.
func guardFull(t topology) error {
	for _, m := range t.members {
		if m.quotaBytes > 0 && m.state.DatabaseBytes+firstWrites >= m.quotaBytes {
			return load.Errorf(results.FailureQuotaInsufficient,
				"%s has used up its quota (%s of %s, free pages included): etcd would raise the alarm NOSPACE at the first write of the run. Compact and defragment the member, or raise --quota-backend-bytes",
				m.endpoint, megabytes(m.state.DatabaseBytes), megabytes(m.quotaBytes))
		}
	}
	return nil
}

// guardControlPlane refuses an etcd that holds the keys of an API server. If the user may not read those keys, only the
// operator's list of addresses protects the control plane.
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
	return d.holdsControlPlane(text.Grouped(found.Count), found.Kvs[0].Key)
}

// holdsControlPlane is the error of a target with this many keys of an API server.
func (d *Driver) holdsControlPlane(count string, example []byte) error {
	return load.Errorf(results.FailureControlPlaneTarget,
		"%s holds the objects of a Kubernetes API server (%s keys such as %.100q): a load can take that cluster down. Name another target, or set spec.guard.acknowledgeControlPlane: true to load this one",
		d.addresses(), count, example)
}

// guardQuota compares the expected writes with the free part of each member's quota. Free pages inside the database are
// not counted, because their future number is not known.
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
				"the run is expected to write %s %s. %s has %s of its quota left (%s of %s are used), and the run "+
					"may use %d %% of what is left. Write less, compact and defragment the target, raise "+
					"spec.guard.maxFreeQuotaPercent, or set spec.guard.acceptWrites: true",
				d.roughly(), megabytes(estimate), m.endpoint, megabytes(free), megabytes(m.state.DatabaseBytes), megabytes(m.quotaBytes), share)
		}
	}
	return nil
}

// roughly says whether the estimate is a lower bound.
func (d *Driver) roughly() string {
	if d.plan.WritesMore() {
		return "at least"
	}
	return "about"
}

func megabytes(bytes int64) string { return text.Grouped((bytes+500_000)/1_000_000) + " MB" }
