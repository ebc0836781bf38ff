package workload

import "github.com/etcdbench/etcd-benchmark-operator/internal/plan"

// choice turns operation n, and 64 random bits that belong to it, into the
// number of a key.
type choice interface {
	key(n int64, random uint64) int64
}

func newChoice(w plan.Workload, seed uint64) choice {
	if w.Type == plan.WorkloadDelete && w.KeyOrder == plan.KeyOrderUniform {
		return &shuffled{newScatter(uint64(w.KeyCount), seed)}
	}
	count := uint64(w.Firsts())
	switch w.KeyOrder {
	case plan.KeyOrderUniform:
		return uniform{count}
	case plan.KeyOrderZipf:
		return &zipfKeys{newZipf(w.Firsts(), float64(w.Demand.ZipfThousandths)/1000), newScatter(count, seed)}
	case plan.KeyOrderHotSpot:
		return &hotSpot{
			scatter: newScatter(count, seed),
			hot:     max(1, count*uint64(w.Demand.HotKeysPerThousand)/1000), count: count,
			requestsPerThousand: uint64(w.Demand.HotRequestsPerThousand),
		}
	default:
		return sequential{w.Firsts()}
	}
}

// sequential takes one key after the other, and begins anew after the last.
type sequential struct{ count int64 }

func (s sequential) key(n int64, _ uint64) int64 { return n % s.count }

// shuffled takes each key once, in a random order.
type shuffled struct{ scatter }

func (s *shuffled) key(n int64, _ uint64) int64 { return s.of(uint64(n) % s.count) }

// uniform takes any key with the same probability.
type uniform struct{ count uint64 }

func (u uniform) key(_ int64, random uint64) int64 { return int64(below(random, u.count)) }

// zipfKeys takes keys by Zipf's law, the ranks scattered over the key space.
type zipfKeys struct {
	zipf
	scatter
}

func (z *zipfKeys) key(_ int64, random uint64) int64 { return z.of(uint64(z.rank(random) - 1)) }

// hotSpot sends a share of the operations to the first keys of a scattered key
// space, and the rest to the others.
type hotSpot struct {
	scatter
	hot, count          uint64
	requestsPerThousand uint64
}

func (h *hotSpot) key(_ int64, random uint64) int64 {
	// The bits that decide which share it is do not decide which key.
	which := mix(random)
	if below(random, 1000) < h.requestsPerThousand {
		return h.of(below(which, h.hot))
	}
	return h.of(h.hot + below(which, h.count-h.hot))
}
