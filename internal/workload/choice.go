package workload

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// choice maps operation n, and 64 random bits for it, to the number of a key.
type choice interface {
	key(n int64, random uint64) int64
}

// million is the unit of shares.
const million = 1_000_000

// newChoice returns the choice of the first key of a request.
func newChoice(k spec.Keys, firsts int64, seed uint64) choice {
	count := uint64(max(firsts, 1))
	switch k.Distribution {
	case spec.Uniform:
		return uniform{count}
	case spec.ZipfLaw:
		return &zipfKeys{newZipf(int64(count), k.Zipf.Exponent.Float64()), newScatter(count, seed)}
	case spec.HotSpots:
		return &hotSpot{
			scatter: newScatter(count, seed),
			hot:     max(1, count*uint64(k.HotSpot.KeysPerMillion)/million), count: count,
			requestsPerMillion: uint64(k.HotSpot.RequestsPerMillion),
		}
	default:
		return sequential{int64(count)}
	}
}

// sequential takes the keys in order, and starts again after the last.
type sequential struct{ count int64 }

func (s sequential) key(n int64, _ uint64) int64 { return n % s.count }

// uniform takes any key with the same probability.
type uniform struct{ count uint64 }

func (u uniform) key(_ int64, random uint64) int64 { return int64(below(random, u.count)) }

// zipfKeys takes keys by Zipf's law, with the ranks scattered over the key space.
type zipfKeys struct {
	zipf
	scatter
}

func (z *zipfKeys) key(_ int64, random uint64) int64 { return z.of(uint64(z.rank(random) - 1)) }

// hotSpot sends a share of the operations to the first keys of a scattered key
// space, and the rest to the others.
type hotSpot struct {
	scatter
	hot, count         uint64
	requestsPerMillion uint64
}

func (h *hotSpot) key(_ int64, random uint64) int64 {
	// The bits that decide the share must not decide the key.
	which := mix(random)
	if below(random, million) < h.requestsPerMillion {
		return h.of(below(which, h.hot))
	}
	return h.of(h.hot + below(which, h.count-h.hot))
}
