package etcd

import (
	"context"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// sweeper walks over the key space by number. It does not list keys, because etcd would read all values for that. It
// counts them, for which etcd reads only its index.
type sweeper struct {
	ownKeys
	// count is the number of key numbers.
	count int64
	// next is the lowest number whose key may exist.
	next int64
	// atOnce is the length of a block.
	atOnce    int64
	lookahead int64
}

// numbers is a range of key numbers, without to.
type numbers struct{ from, to int64 }

func (n numbers) size() int64 { return n.to - n.from }

// parts splits the numbers into pieces whose keys one transaction can name.
func (n numbers) parts() []numbers {
	var out []numbers
	for from := n.from; from < n.to; from += sweepNames {
		out = append(out, numbers{from, min(from+sweepNames, n.to)})
	}
	return out
}

// sweptKeys is read while a sweeper writes it.
type sweptKeys struct {
	mutex sync.Mutex
	work  results.Work
}

func (k *sweptKeys) begin(total int64) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.work = results.Work{Total: uint64(total), Since: time.Now()}
}

func (k *sweptKeys) reach(done int64) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.work.Done = uint64(done)
}

// Deleted implements load.Deleter.
func (d *Driver) Deleted() results.Work {
	d.deleted.mutex.Lock()
	defer d.deleted.mutex.Unlock()
	return d.deleted.work
}

func (s *sweeper) walk(ctx context.Context) error {
	s.driver.deleted.begin(s.count)
	for s.next < s.count {
		began := time.Now()
		if err := s.block(ctx); err != nil {
			return err
		}
		s.driver.deleted.reach(min(s.next, s.count))
		// Half of the time is left to other users of the target.
		if err := pause(ctx, time.Since(began)); err != nil {
			return err
		}
	}
	return nil
}

// block deletes the keys of the next numbers, and continues at the first key after them.
func (s *sweeper) block(ctx context.Context) error {
	count := s.count
	block := numbers{s.next, min(s.next+s.atOnce, count)}
	horizon := min(block.to+s.lookahead, count)
	look := []clientv3.Op{clientv3.OpGet(s.after(block.to-1), clientv3.WithRange(s.after(horizon-1)), clientv3.WithLimit(1), clientv3.WithKeysOnly())}
	for _, part := range block.parts() {
		look = append(look, s.counting(part))
	}
	seen, err := commit(ctx, s.client, nil, look...)
	if isTooLarge(err) && s.atOnce > sweepNames {
		s.atOnce /= 2
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.delete(ctx, block, seen.Responses[1:]); err != nil {
		return err
	}
	ahead := seen.Responses[0].GetResponseRange().Kvs
	if len(ahead) == 0 {
		s.next, s.lookahead = horizon, 2*s.lookahead
		return nil
	}
	s.next, s.lookahead = s.numberOf(ahead[0].Key, block.to), sweepLookahead
	return nil
}

// delete deletes the keys of a block by their names, because foreign keys may lie between them. counts is the number of
// keys in each part.
func (s *sweeper) delete(ctx context.Context, block numbers, counts []*etcdserverpb.ResponseOp) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var deleting sync.WaitGroup
	for i, part := range block.parts() {
		if counts[i].GetResponseRange().Count == 0 {
			continue
		}
		// Members agree on many transactions as fast as on one.
		deleting.Go(func() {
			if err := s.deletePart(ctx, part); err != nil {
				cancel(err)
			}
		})
	}
	deleting.Wait()
	return context.Cause(ctx)
}

func (s *sweeper) deletePart(ctx context.Context, part numbers) error {
	return s.names.each(part.size(), func(first, end int64) error {
		n := numbers{part.from + first, part.from + end}
		from, to := s.key(n.from), s.after(n.to-1)
		done, err := s.ownKeys.delete(ctx, from, to, s.byName(n)...)
		if err == nil && !done {
			err = s.deleteListed(ctx, from, to)
		}
		return err
	})
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

// numberOf is the inverse of key. It never returns less than from, so that a foreign key cannot lead back.
func (s *sweeper) numberOf(key []byte, from int64) int64 {
	digits := string(key[len(s.driver.plan.Prefix):])
	number, err := strconv.ParseInt(digits[:min(len(digits), s.keys.KeyBytes()-len(s.driver.plan.Prefix))], 10, 64)
	if err != nil || number < from {
		return from
	}
	return number
}
