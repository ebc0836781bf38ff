package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Claim implements load.Driver. Each pod tries the same transaction: one pod wins, the others join.
func (d *Driver) Claim(ctx context.Context) error {
	client, err := d.controlClient(ctx)
	if err == nil {
		err = d.claim(ctx, client)
	}
	return settled(ctx, err, d.addresses())
}

func (d *Driver) claim(ctx context.Context, client *clientv3.Client) error {
	if err := d.checkLeases(ctx, client); err != nil {
		return err
	}
	outside, err := d.checkOuter(ctx, client)
	if err != nil {
		return err
	}
	register := clientv3.OpPut(d.podKey(), d.lifeSign())
	won, err := commit(ctx, client,
		append(outside, noKeyIn(d.plan.Prefix, clientv3.GetPrefixRangeEnd(d.plan.Prefix))),
		clientv3.OpPut(d.markerKey(), d.plan.RunUID), register)
	if err != nil || won.Succeeded {
		return err
	}
	joined, err := commit(ctx, client, []clientv3.Cmp{d.ownsPrefix()}, register)
	if err != nil || joined.Succeeded {
		return err
	}
	if _, err := d.checkOuter(ctx, client); err != nil {
		return err
	}
	return d.foreign(ctx, client)
}

// checkOuter fails if another run owns a prefix around this run's, because each run could take the other's keys for its
// own. It returns the conditions that keep this true. A marker that the user may not read is ignored.
func (d *Driver) checkOuter(ctx context.Context, client *clientv3.Client) (free []clientv3.Cmp, err error) {
	for _, prefix := range outerPrefixes(d.plan.Prefix) {
		marker, err := get(ctx, client, markerOf(prefix))
		switch {
		case codeOf(err) == codes.PermissionDenied:
			continue
		case err != nil:
			return nil, err
		case len(marker.Kvs) > 0:
			return nil, load.Errorf(results.FailurePrefixNotEmpty,
				"the prefix %s lies within %s, which belongs to the run %q. Wait until that run has ended and its keys are deleted, or choose another spec.target.keyPrefix",
				d.plan.Prefix, prefix, ownerIn(marker.Kvs[0].Value))
		}
		free = append(free, noKey(markerOf(prefix)))
	}
	return free, nil
}

// outerPrefixes returns the prefixes around a prefix, the shortest first. A plan has fewer of them than a transaction
// may have comparisons.
func outerPrefixes(prefix string) []string {
	var outer []string
	for i := range len(prefix) - 1 {
		if prefix[i] == '/' {
			outer = append(outer, prefix[:i+1])
		}
	}
	return outer
}

// foreign returns an error that names a foreign key under the prefix.
func (d *Driver) foreign(ctx context.Context, client *clientv3.Client) error {
	found, err := get(ctx, client, d.plan.Prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
	if err != nil {
		return err
	}
	example := "a key that was just deleted"
	if len(found.Kvs) > 0 {
		example = fmt.Sprintf("%q", found.Kvs[0].Key)
	}
	return d.holdsForeign(text.Grouped(found.Count) + ", such as " + example)
}

// holdsForeign is the error of a prefix that holds keys of others.
func (d *Driver) holdsForeign(examples string) error {
	return load.Errorf(results.FailurePrefixNotEmpty,
		"the prefix %s holds keys that do not belong to this run (%s); they were left alone. Choose another spec.target.keyPrefix, or delete these keys if they are not needed",
		d.plan.Prefix, examples)
}
