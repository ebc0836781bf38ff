package etcd

import (
	"errors"
	"strings"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
)

// usualOperations is etcd's default limit of the operations, and of the comparisons, in one transaction. The limits of a
// server, --max-txn-ops and --max-request-bytes, can be lower, and no request reads them.
const usualOperations = 128

// batches divides work over transactions that the server takes. A server that refuses one as too large gets half as much
// from then on.
type batches struct{ most atomic.Int64 }

func newBatches(most int64) *batches {
	b := &batches{}
	b.most.Store(most)
	return b
}

// each calls try for parts of the numbers from 0 to n-1. It may be called by several goroutines.
func (b *batches) each(n int64, try func(from, to int64) error) error {
	for from := int64(0); from < n; {
		most := b.most.Load()
		to := min(from+most, n)
		err := try(from, to)
		switch {
		case err == nil:
			from = to
		case !isTooLarge(err) || to-from == 1:
			return err
		default:
			b.most.CompareAndSwap(most, (to-from)/2)
		}
	}
	return nil
}

// isTooLarge reports whether the server refused a request because of its size or of its number of operations.
func isTooLarge(err error) bool {
	return errors.Is(err, rpctypes.ErrTooManyOps) || errors.Is(err, rpctypes.ErrRequestTooLarge) ||
		// gRPC refuses it before etcd does if it is much too long.
		codeOf(err) == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max")
}
