package consul

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// claims is ownership.Store for Consul.
type claims struct {
	ownership.Named
	driver *Driver
	// sessions: the run may have sessions.
	sessions bool
}

// batchKeys are the deletions of a transaction: a Consul before 1.14 takes 64 operations, and one is the check of the marker.
const batchKeys = 63

func (d *Driver) claimsOf(run *ownership.Run, sessions bool, names func(context.Context) (ownership.Names, error)) *claims {
	return &claims{driver: d, sessions: sessions, Named: ownership.Named{Deleter: kv{d}, Names: names, Batch: batchKeys, Markers: ownership.Markers{KV: kv{d}, Run: run, Keys: ownership.Keyspace{
		Folder: run.Prefix, IsOwn: func(name string) bool { return isOwn(run.Prefix, name) },
	}}}}
}

// isOwn reports whether a key under a prefix can be one of the load: a number, or a lock with a number.
func isOwn(prefix, name string) bool {
	digits, under := strings.CutPrefix(name, prefix)
	digits = strings.TrimPrefix(digits, ".lock/")
	return under && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// ownClaims are the claims of the driver's own run, whose keys are the first numbers.
func (d *Driver) ownClaims(run *ownership.Run) *claims {
	writer, written, locks := d.plan.KeyWriter(), d.plan.WrittenKeys(), int64(d.plan.ContestNames())
	return d.claimsOf(run, d.plan.UsesLeases(), func(context.Context) (ownership.Names, error) {
		return ownership.Names{Count: written + locks, Name: func(number int64) string {
			if number >= written {
				return d.plan.ContestName(int(number - written))
			}
			return string(writer.AppendKey(nil, number))
		}}, nil
	})
}

// Sign tells a refusal from an answer that did not come.
func (c *claims) Sign(ctx context.Context) (done bool, err error) {
	done, err = c.Named.Sign(ctx)
	if _, refused := errors.AsType[*refusal](err); refused && !passes(err) {
		err = fmt.Errorf("%w: %w", load.ErrRefused, err)
	}
	return done, err
}

// Owner ignores prefixes that this token may not read.
func (c *claims) Owner(ctx context.Context, prefix string) (ownership.Owner, error) {
	owner, err := c.Markers.Owner(ctx, prefix)
	if isDenied(err) && prefix != c.Run.Prefix {
		return ownership.Owner{}, nil
	}
	return owner, err
}

func (c *claims) Settle(ctx context.Context, err error) error {
	return kv{c.driver}.Settle(ctx, err)
}

// searcher is ownership.Searcher for Consul.
type searcher struct{ kv }

// NewLeftovers returns the leftovers of a target. It connects to nothing yet.
func NewLeftovers(t plan.Target) *ownership.Leftovers {
	return &ownership.Leftovers{Searcher: searcher{kv{New(plan.Plan{Target: t}, 0)}}}
}

func (s searcher) Claims(run *ownership.Run, _ int64) ownership.Store {
	return s.claimsOf(run, true, func(ctx context.Context) (found ownership.Names, err error) {
		all, err := s.names(ctx, run.Prefix, false, everything)
		own := slices.DeleteFunc(all, func(name string) bool {
			if !isOwn(run.Prefix, name) && name != run.Marker() && !ownership.IsPod(run.Prefix, name) {
				found.Spared++
			}
			return !isOwn(run.Prefix, name)
		})
		found.Count, found.Name = int64(len(own)), func(number int64) string { return own[number] }
		return found, err
	})
}

// Names fails if the token may not read the folder: Consul leaves out what may not be read.
func (s searcher) Names(ctx context.Context, folder string) ([]string, error) {
	if _, err := s.Get(ctx, ownership.MarkerOf(folder)); err != nil {
		return nil, err
	}
	names, err := s.names(ctx, folder, true, everything)
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, folder)
	}
	return names, err
}

func (s searcher) Nested(ctx context.Context, folder string) (prefixes []string, others bool, err error) {
	names, err := s.names(ctx, folder, false, everything)
	prefixes, others = ownership.NestedIn(names)
	return prefixes, others, err
}

func (s searcher) See(ctx context.Context, prefix string) (seen ownership.Seen, err error) {
	if !strings.HasSuffix(prefix, "/") {
		return ownership.Seen{Keys: 1}, nil
	}
	marker, err := s.Get(ctx, ownership.MarkerOf(prefix))
	if err != nil {
		return seen, err
	}
	pods, err := s.List(ctx, prefix+ownership.PodsFolder, "", 0)
	if err != nil {
		return seen, err
	}
	names, err := s.names(ctx, prefix, false, everything)
	return ownership.SeenAt(prefix, marker, pods, int64(len(names))), err
}
