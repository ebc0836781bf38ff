package etcdtool

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/refused"
)

// The descriptions of flags that several commands have.
const (
	totalHelp    = "`N` requests: load.requests"
	rateHelp     = "`N` requests per second; 0 is no limit: load.rate.perSecond"
	keySizeHelp  = "`BYTES` of a key, without the run's prefix: keys.sizeBytes"
	valSizeHelp  = "`BYTES` of a value: values.sizeBytes"
	keySpaceHelp = "`N` different keys: keys.count"
)

// put has the flags of the command put.
type put struct {
	keySize, valSize     int32
	total, rate, space   int64
	sequential           bool
	compactEvery         time.Duration
	compactKeepRevisions int64
}

func (p *put) define(set *pflag.FlagSet) {
	set.Int32Var(&p.keySize, "key-size", 8, keySizeHelp)
	set.Int32Var(&p.valSize, "val-size", 8, valSizeHelp)
	set.Int64Var(&p.total, "total", 10_000, totalHelp)
	set.Int64Var(&p.rate, "rate", 0, rateHelp)
	set.Int64Var(&p.space, "key-space-size", 1, keySpaceHelp)
	set.BoolVar(&p.sequential, "sequential-keys", false, "take the keys in turn, not at random: keys.distribution")
	set.DurationVar(&p.compactEvery, "compact-interval", 0, "compact the whole store at this interval; 0 is never: disturbances.everySeconds, of type Compact")
	set.Int64Var(&p.compactKeepRevisions, "compact-index-delta", 1000, "a compaction keeps `N` revisions: disturbances.compact.keepRevisions")
	refused.Define(set, "check-hashkv", "the tool prints one hash and compares nothing: compare the members' hashes with etcdctl endpoint hashkv --cluster")
}

func (p *put) run(_ []string, load spec.Load) (run, error) {
	r := run{
		workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keys(p.space, p.keySize, chosen(p.sequential)), Values: values(p.valSize)}},
		load:     requests(load, p.total, p.rate),
	}
	if p.compactEvery == 0 {
		return r, nil
	}
	if p.compactEvery < time.Second || p.compactEvery%time.Second != 0 || p.compactEvery > day*time.Second {
		return run{}, fmt.Errorf("--compact-interval: wanted whole seconds, 1s to 24h, found %s", p.compactEvery)
	}
	r.disturbances = []spec.Disturbance{{
		Type: spec.DisturbanceCompact, EverySeconds: int32(p.compactEvery / time.Second), Compact: &spec.CompactSettings{KeepRevisions: p.compactKeepRevisions},
	}}
	return r, nil
}

// txnPut has the flags of the command txn-put.
type txnPut struct {
	keySize, valSize, ops int32
	total, rate, space    int64
}

func (p *txnPut) define(set *pflag.FlagSet) {
	set.Int32Var(&p.keySize, "key-size", 8, keySizeHelp)
	set.Int32Var(&p.valSize, "val-size", 8, valSizeHelp)
	set.Int32Var(&p.ops, "txn-ops", 1, "`N` puts in a transaction: txn.putsPerTransaction")
	set.Int64Var(&p.total, "total", 10_000, totalHelp)
	set.Int64Var(&p.rate, "rate", 0, rateHelp)
	set.Int64Var(&p.space, "key-space-size", 1, keySpaceHelp)
}

func (p *txnPut) run(_ []string, load spec.Load) (run, error) {
	return run{
		workload: spec.Workload{Type: spec.WorkloadTxn, Txn: &spec.Txn{
			Mode: spec.TxnPuts, PutsPerTransaction: &p.ops, Keys: keys(p.space, p.keySize, spec.Sequential), Values: values(p.valSize),
		}},
		load: requests(load, p.total, p.rate),
	}, nil
}
