package etcdtool

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// toolPage is the number of keys in a page of the tool's --paginate.
const toolPage = 10_000

// ranges has the flags of the command range.
type ranges struct {
	total, rate, limit          int64
	consistency                 string
	countOnly, keysOnly, prefix bool
	stream, paginate            bool
	// The tool lacks these: it reads keys that exist.
	space            int64
	keySize, valSize int32
}

func (r *ranges) define(set *pflag.FlagSet) {
	set.Int64Var(&r.total, "total", 10_000, totalHelp)
	set.Int64Var(&r.rate, "rate", 0, rateHelp)
	set.StringVar(&r.consistency, "consistency", "l", "l (linearizable) or s (serializable): range.consistency")
	set.Int64Var(&r.limit, "limit", 0, "return at most `N` keys; 0 is no limit: range.limit")
	set.BoolVar(&r.countOnly, "count-only", false, "return the number of keys: range.countOnly")
	set.BoolVar(&r.keysOnly, "keys-only", false, "return keys without values: range.keysOnly")
	set.BoolVar(&r.prefix, "prefix", false, "read all keys that the run has written: range.keysPerRequest is keys.count")
	set.BoolVar(&r.stream, "stream", false, "use RangeStream, of etcd 3.7: range.delivery")
	set.BoolVar(&r.paginate, "paginate", false, "read pages of 10,000 keys: range.delivery, range.keysPerPage")
	set.Int64Var(&r.space, "key-space-size", 1, "write `N` keys before the run starts, and read only these, "+
		"whatever KEY is: one in each request, or all with KEY END or --prefix. Not a flag of etcd's tool, which "+
		"reads keys that exist")
	set.Int32Var(&r.keySize, "key-size", 8, keySizeHelp+". Not a flag of etcd's tool")
	set.Int32Var(&r.valSize, "val-size", 8, valSizeHelp+". Not a flag of etcd's tool")
}

func (r *ranges) run(arguments []string, load spec.Load) (run, error) {
	consistency, err := consistencyOf(r.consistency)
	several := r.prefix || len(arguments) == 2
	switch {
	case err != nil:
		return run{}, err
	case several && r.space == 1:
		return run{}, errors.New("--key-space-size: wanted how many keys KEY END or --prefix covers, 2 or more: the run does not read existing keys, it writes the keys that it reads")
	case r.stream && r.paginate:
		return run{}, errors.New("--stream and --paginate are two ways to read the same keys: remove one of them")
	}
	w := spec.Range{
		Consistency: consistency, KeysPerRequest: 1, Delivery: spec.DeliveryWhole, KeysOnly: r.keysOnly, CountOnly: r.countOnly,
		Keys: keys(r.space, r.keySize, spec.Sequential), Values: values(r.valSize),
	}
	if several {
		w.KeysPerRequest = r.space
	}
	if r.limit != 0 {
		w.Limit = &r.limit
	}
	switch page := int64(toolPage); {
	case r.stream:
		w.Delivery = spec.DeliveryStream
	case r.paginate:
		w.Delivery, w.KeysPerPage = spec.DeliveryPages, &page
	}
	return run{workload: spec.Workload{Type: spec.WorkloadRange, Range: &w}, load: requests(load, r.total, r.rate)}, nil
}
