package etcdtool

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// stm has the flags of the command stm.
type stm struct {
	isolation, locker            string
	keys, total, rate            int64
	perTransaction, write, value int32
}

func (s *stm) define(set *pflag.FlagSet) {
	set.StringVar(&s.isolation, "isolation", "r", "c (read committed), r (repeatable reads), s (serializable) or ss (snapshot): stm.isolation")
	set.Int64Var(&s.keys, "keys", 1, keySpaceHelp)
	set.Int64Var(&s.total, "total", 10_000, totalHelp)
	set.Int64Var(&s.rate, "rate", 0, rateHelp)
	set.Int32Var(&s.perTransaction, "keys-per-txn", 1, "`N` keys in a transaction: stm.keysPerTransaction")
	set.Int32Var(&s.write, "txn-wr-percent", 50, "a transaction writes `PERCENT` of its keys: stm.writePercent")
	set.StringVar(&s.locker, "stm-locker", "stm", "stm (no lock), lock-client or lock-rpc: stm.locker")
	set.Int32Var(&s.value, "val-size", 8, valSizeHelp)
}

func (s *stm) run(_ []string, load spec.Load) (run, error) {
	isolation, err := oneOf("isolation", s.isolation, map[string]spec.Isolation{
		"c": spec.IsolationReadCommitted, "r": spec.IsolationRepeatableReads, "s": spec.IsolationSerializable, "ss": spec.IsolationSerializableSnapshot,
	}, "c, r, s or ss")
	locker, otherErr := oneOf("stm-locker", s.locker, map[string]spec.Locker{
		"stm": spec.LockerNone, "lock-client": spec.LockerClient, "lock-rpc": spec.LockerRPC,
	}, "stm, lock-client or lock-rpc")
	if err := errors.Join(err, otherErr); err != nil {
		return run{}, err
	}
	return run{
		workload: spec.Workload{Type: spec.WorkloadSTM, STM: &spec.STM{
			Isolation: isolation, KeysPerTransaction: s.perTransaction, WritePercent: s.write, Locker: locker,
			Keys: keys(s.keys, 8, spec.Uniform), Values: values(s.value),
		}},
		load: requests(load, s.total, s.rate),
	}, nil
}

// leaseSeconds is the tool's time to live of leases.
const leaseSeconds = 100

// leaseKeepAlive has the flags of the command lease-keepalive.
type leaseKeepAlive struct{ total int64 }

func (k *leaseKeepAlive) define(set *pflag.FlagSet) {
	set.Int64Var(&k.total, "total", 10_000, totalHelp)
}

// run renews one lease per client, as the tool does.
func (k *leaseKeepAlive) run(_ []string, load spec.Load) (run, error) {
	return run{
		workload: spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{
			Operation: spec.LeaseKeepAlive, TTLSeconds: leaseSeconds, KeepAlive: &spec.KeepAlive{Mode: spec.KeepAliveOnce, Leases: int64(load.Clients)},
		}},
		load: requests(load, k.total, 0),
	}, nil
}
