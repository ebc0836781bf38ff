package etcd

import (
	"context"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// sweeper walks over the key space by number. It does not list keys: etcd
// would read all values to do so. It has them counted, for which etcd reads its
// index alone.
type sweeper struct {
	driver *Driver
	client *clientv3.Client
	keys   workload.KeyWriter
	// count is how many numbers there are.
	count int64
	// next is the lowest number whose key may exist.
	next  int64
	sight int64
}

// numbers in a row, from the first up to the one before to.
type numbers struct{ from, to int64 }

func (n numbers) size() int64 { return n.to - n.from }

// parts are the numbers in pieces whose keys one transaction can name.
func (n numbers) parts() []numbers {
	var out []numbers
	for from := n.from; from < n.to; from += sweepNames {
		out = append(out, numbers{from, min(from+sweepNames, n.to)})
	}
	return out
}

func (s *sweeper) walk(ctx context.Context) error {
	for s.next < s.count {
		began := time.Now()
		if err := s.block(ctx); err != nil {
			return err
		}
		// Half of the time belongs to whoever else uses the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// block deletes the keys of the next numbers, and goes to the first key after
// them.
func (s *sweeper) block(ctx context.Context) error {
	count := s.count
	block := numbers{s.next, min(s.next+sweepBlock, count)}
	horizon := min(block.to+s.sight, count)
	look := []clientv3.Op{s.counting(block),
		clientv3.OpGet(s.after(block.to-1), clientv3.WithRange(s.after(horizon-1)), clientv3.WithLimit(1), clientv3.WithKeysOnly())}
	for _, part := range block.parts() {
		look = append(look, s.counting(part))
	}
	seen, err := commit(ctx, s.client, nil, look...)
	if err != nil {
		return err
	}
	if err := s.delete(ctx, block, seen.Responses[0].GetResponseRange().Count, seen.Responses[2:]); err != nil {
		return err
	}
	ahead := seen.Responses[1].GetResponseRange().Kvs
	if len(ahead) == 0 {
		s.next, s.sight = horizon, 2*s.sight
		return nil
	}
	s.next, s.sight = s.numberOf(ahead[0].Key, block.to), sweepSight
	return nil
}

// delete deletes the keys of a block, in which so many were counted, and in its
// parts these, by their names: between them may lie keys that the run did not
// write. Where there are many, and as many as numbers, they go as a range, for
// which etcd needs half of the time.
func (s *sweeper) delete(ctx context.Context, block numbers, counted int64, counts []*etcdserverpb.ResponseOp) error {
	if counted == block.size() && counted > sweepNames {
		return s.driver.deleteOwned(ctx, s.client, clientv3.OpDelete(s.key(block.from), clientv3.WithRange(s.after(block.to-1))))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var deleting sync.WaitGroup
	for i, part := range block.parts() {
		if counts[i].GetResponseRange().Count == 0 {
			continue
		}
		// Members agree on many transactions as fast as on one.
		deleting.Go(func() {
			if err := s.driver.deleteOwned(ctx, s.client, s.byName(part)...); err != nil {
				cancel(err)
			}
		})
	}
	deleting.Wait()
	return context.Cause(ctx)
}

func (s *sweeper) counting(n numbers) clientv3.Op {
	return clientv3.OpGet(s.key(n.from), clientv3.WithRange(s.after(n.to-1)), clientv3.WithCountOnly())
}

func (s *sweeper) byName(n numbers) []clientv3.Op {
	deletions := make([]clientv3.Op, 0, n.size())
	for number := n.from; number < n.to; number++ {
		deletions = append(deletions, clientv3.OpDelete(s.key(number)))
	}
	return deletions
}

func (s *sweeper) key(number int64) string { return string(s.keys.AppendKey(nil, number)) }

// after is the key that follows the key of a number.
func (s *sweeper) after(number int64) string { return s.key(number) + "\x00" }

// numberOf is the inverse of key. A key that is not of the load cannot lead
// back, before from.
func (s *sweeper) numberOf(key []byte, from int64) int64 {
	digits := string(key[len(s.driver.plan.Prefix):])
	number, err := strconv.ParseInt(digits[:min(len(digits), s.keys.KeyBytes()-len(s.driver.plan.Prefix))], 10, 64)
	if err != nil || number < from {
		return from
	}
	return number
}
