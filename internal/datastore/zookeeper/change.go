package zookeeper

import (
	"context"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	// mostOps and mostBytes bound a transaction. One that is larger than a server's
	// jute.maxbuffer can break the whole ensemble.
	mostOps   = 500
	mostBytes = 128 << 10
	// opBytes is an upper bound of what an operation has beside its path.
	opBytes = 64
	// mostListed is the most children of a znode that are listed at once; their names fit into a frame.
	mostListed = 2 * perFolder
)

// notOwned is the error of a run whose marker is gone.
func (d *Driver) notOwned() error {
	return load.Errorf(results.FailurePrefixNotEmpty, "the run no longer owns the prefix %s: its marker %s was deleted", d.plan.Prefix, d.tree.marker())
}

// batch is how many operations a transaction may have.
func (d *Driver) batch() int {
	return min(mostOps, mostBytes/(d.tree.keys.KeyBytes()+len(d.tree.root)+opBytes))
}

// change carries out operations in transactions that check the marker. If a transaction
// fails, change tries each of its operations alone, and ignores the forgiven errors.
func (d *Driver) change(ctx context.Context, ops []any, forgiven ...error) error {
	for batch := range slices.Chunk(ops, d.batch()) {
		failed, _, err := d.commit(ctx, append([]any{d.owns()}, batch...)...)
		if err == nil && failed >= 0 {
			err = d.changeEach(ctx, batch, forgiven)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *Driver) changeEach(ctx context.Context, ops []any, forgiven []error) error {
	for _, op := range ops {
		failed, why, err := d.commit(ctx, d.owns(), op)
		switch {
		case err != nil:
			return err
		case failed == 0:
			return d.notOwned()
		case failed > 0 && !slices.Contains(forgiven, why):
			return why
		}
	}
	return nil
}
