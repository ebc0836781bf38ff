package ownership

import (
	"context"
	"fmt"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// revokeAttempts is how often a revocation begins again: a grant that timed out can still arrive after it.
const revokeAttempts = 3

// RevokeAll implements Revoker.Revoke for a store that lists the leases of a run. It revokes them until the list is empty, at
// most this many before it checks again whether it may go on.
func RevokeAll[T any](ctx context.Context, check func(context.Context) error, most int,
	list func(context.Context) ([]T, error), revoke func(context.Context, []T) error) (revoked int64, err error) {
	for attempt := 1; ; attempt++ {
		left, err := list(ctx)
		if err != nil || len(left) == 0 {
			return revoked, err
		}
		if attempt > revokeAttempts {
			return revoked, fmt.Errorf("%s leases of the run are left", text.Grouped(len(left)))
		}
		for some := range slices.Chunk(left, most) {
			// A transaction cannot guard this.
			if err := check(ctx); err != nil {
				return revoked, err
			}
			rest := beginWork()
			if err := revoke(ctx, some); err != nil {
				return revoked, err
			}
			revoked += int64(len(some))
			if err := rest(ctx); err != nil {
				return revoked, err
			}
		}
	}
}
