package etcdtool

import (
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// txnMixed has the flags of the command txn-mixed.
type txnMixed struct {
	keySize, valSize          int32
	total, rate, space, limit int64
	ratio                     float64
	consistency               string
	set                       *pflag.FlagSet
}

func (m *txnMixed) define(set *pflag.FlagSet) {
	m.set = set
	set.Int32Var(&m.keySize, "key-size", 8, keySizeHelp)
	set.Int32Var(&m.valSize, "val-size", 8, valSizeHelp)
	set.Int64Var(&m.total, "total", 10_000, totalHelp)
	set.Int64Var(&m.rate, "rate", 0, rateHelp)
	set.Int64Var(&m.space, "key-space-size", 1, keySpaceHelp)
	set.Int64Var(&m.limit, "limit", 1000, "a read returns at most `N` keys and counts all others; 0 is no limit: mixed.readLimit")
	set.String("end-key", "", "has no effect: a read covers all keys, here and in the tool")
	set.Float64Var(&m.ratio, "rw-ratio", 1, "reads for each put. Reads are a whole percentage of all requests: mixed.readPercent")
	set.StringVar(&m.consistency, "consistency", "l", "l (linearizable) or s (serializable): mixed.consistency")
}

// run ignores the arguments KEY and END, as the tool does.
func (m *txnMixed) run(_ []string, load spec.Load) (run, error) {
	consistency, err := consistencyOf(m.consistency)
	switch {
	case err != nil:
		return run{}, err
	case m.ratio < 0 || math.IsNaN(m.ratio) || math.IsInf(m.ratio, 0):
		return run{}, fmt.Errorf("--rw-ratio: wanted 0 or more, found %v", m.ratio)
	case m.limit < 0:
		return run{}, fmt.Errorf("--limit: wanted 0 or more, found %d", m.limit)
	}
	limit := m.space
	if m.limit > 0 {
		limit = min(limit, m.limit)
	}
	return run{
		workload: spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
			ReadPercent: m.readPercent(), InTransaction: true, ReadLimit: &limit, Consistency: consistency,
			Keys: keys(m.space, m.keySize, spec.Sequential), Values: values(m.valSize),
		}},
		load: requests(load, m.total, m.rate),
	}, nil
}

func (m *txnMixed) readPercent() int32 { return int32(math.Round(100 * m.ratio / (1 + m.ratio))) }

// mostRounded is how far the ratio may be from the one that was asked for, without a note.
const mostRounded = 0.02

// notes say where a run differs from the tool's run of the same line.
func (m *txnMixed) notes() (all []string) {
	if !m.set.Changed("key-space-size") {
		all = append(all, "a read covers only the keys of this run, here 1, and not those that an earlier put has written: for the store of rw-benchmark.sh, add --key-space-size 65536 --key-size 256")
	}
	percent := float64(m.readPercent())
	if ratio := percent / (100 - percent); math.Abs(ratio/m.ratio-1) > mostRounded {
		all = append(all, fmt.Sprintf("reads are a whole percentage: %.0f %%, which is --rw-ratio %.4f and not %.4f", percent, ratio, m.ratio))
	}
	return all
}
