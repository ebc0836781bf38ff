package etcdtool

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/refused"
)

// Command is a command of etcd's benchmark tool.
type Command struct {
	Name, Short string
	// Arguments are what follows the name, for its usage. There are at least least and at most most of them.
	Arguments   string
	least, most int
	// flags returns the flags of the command itself.
	flags func() flags
}

// flags are the flags of one command.
type flags interface {
	define(*pflag.FlagSet)
	// run fills what the command does. load has the flags of all commands.
	run(arguments []string, load spec.Load) (run, error)
}

// run is what a command does.
type run struct {
	workload     spec.Workload
	load         spec.Load
	disturbances []spec.Disturbance
}

// Commands are the commands that have an equivalent, in the order of the help.
func Commands() []Command {
	return []Command{
		{Name: "put", Short: "Put keys", flags: func() flags { return &put{} }},
		{Name: "range", Short: "Read a key, or an interval of keys", Arguments: " KEY [END]", least: 1, most: 2, flags: func() flags { return &ranges{} }},
		{Name: "txn-put", Short: "Put several keys in a transaction", flags: func() flags { return &txnPut{} }},
		{Name: "txn-mixed", Short: "Read keys or put a key, each in a transaction", Arguments: " [KEY] [END]", most: 2, flags: func() flags { return &txnMixed{} }},
		{Name: "stm", Short: "Run transactions of software transactional memory", flags: func() flags { return &stm{} }},
		{Name: "lease-keepalive", Short: "Renew leases", flags: func() flags { return &leaseKeepAlive{} }},
		{Name: "watch", Short: "Put keys that many watchers watch", flags: func() flags { return &watch{} }},
		{Name: "watch-latency", Short: "Put one key, and measure when its watchers get the events", flags: func() flags { return &watchLatency{} }},
		{Name: "watch-get", Short: "Read a key while watchers read the past", flags: func() flags { return &watchGet{} }},
	}
}

// NoCommand says what to do instead of a command without an equivalent; false for other names.
func NoCommand(name string) (string, bool) {
	if name != "mvcc" {
		return "", false
	}
	return "mvcc measures a store inside its own process, without etcd, and a benchmark loads a real etcd: start etcd with --backend-batch-interval and --backend-batch-limit, and run bench put", true
}

// Flags are the values of a command's flags.
type Flags struct {
	command        Command
	own            flags
	set            *pflag.FlagSet
	conns, clients int32
	leader         bool
	// Perfdash asks for the result in that form.
	Perfdash bool
}

// Define defines the flags of the command, except those for the access to the target.
func (c Command) Define(set *pflag.FlagSet) *Flags {
	f := &Flags{command: c, own: c.flags(), set: set}
	set.Int32Var(&f.conns, "conns", 1, "`N` connections: load.connections")
	set.Int32Var(&f.clients, "clients", 1, "`N` clients, each with one request in flight: load.clients")
	set.BoolVar(&f.leader, "target-leader", false, "send the load to the leader alone: target.members")
	set.BoolVar(&f.Perfdash, "report-perfdash", false, "print the result for Kubernetes's performance dashboard: the same as -o perfdash")
	set.Bool("sample", false, "has no effect: the report always has the slowest request of each interval")
	refused.Define(set, "precise", "status has whole microseconds and their error bound: remove it")
	refused.Define(set, "dial-timeout", "the run opens its connections before it starts, and waits up to spec.timeoutSeconds for them: remove it")
	refused.Define(set, "auto-sync-interval", "each connection belongs to a known member, and the run follows the leader: remove it")
	f.own.define(set)
	return f
}

// Notes say where the run differs from the tool's run of the same line, as far as that is not in docs/etcd-tool.md.
func (f *Flags) Notes() []string {
	if of, has := f.own.(interface{ notes() []string }); has {
		return of.notes()
	}
	return nil
}

// day bounds a run: the tool has no time limit.
const day = 86_400

// Benchmark returns the EtcdBenchmark that does what the flags ask for. Its target has no address.
func (f *Flags) Benchmark(arguments []string) (*v1alpha1.EtcdBenchmark, error) {
	if err := refused.First(f.set); err != nil {
		return nil, err
	}
	if n := len(arguments); n < f.command.least || n > f.command.most {
		return nil, fmt.Errorf("wanted bench %s%s, found %d arguments after the name", f.command.Name, f.command.Arguments, n)
	}
	does, err := f.own.run(arguments, spec.Load{
		Transport: spec.TransportClient, Pods: 1, Connections: f.conns, Clients: f.clients, RequestTimeoutSeconds: 10, Seed: 1,
	})
	if err != nil {
		return nil, err
	}
	out := v1alpha1.EtcdBenchmarkSpec{Workload: does.workload, Load: does.load, Disturbances: does.disturbances, TimeoutSeconds: day}
	if f.leader {
		out.Target.Members = spec.MembersLeader
	}
	if slices.ContainsFunc(does.disturbances, spec.Disturbance.StoreWide) {
		// A user who gives the flag accepts what it does to the store.
		guard := spec.DefaultGuard()
		guard.AllowStoreWide = true
		out.Guard = &guard
	}
	return &v1alpha1.EtcdBenchmark{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "EtcdBenchmark"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-" + f.command.Name + "-"},
		Spec:       out,
	}, nil
}

// requests sets how many requests are sent, and how fast. A rate of 0 is no limit.
func requests(l spec.Load, total, perSecond int64) spec.Load {
	l.Requests = &total
	if perSecond != 0 {
		l.Rate = &spec.Rate{PerSecond: perSecond, Arrival: spec.ArrivalConstant}
	}
	return l
}

func keys(count int64, size int32, d spec.Distribution) spec.Keys {
	return spec.Keys{Count: count, SizeBytes: size, Distribution: d}
}

// values are random bytes of one length.
func values(size int32) spec.Values {
	return spec.Values{SizeBytes: size, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform}
}

// chosen returns how keys are chosen: in turn, or at random.
func chosen(sequential bool) spec.Distribution {
	if sequential {
		return spec.Sequential
	}
	return spec.Uniform
}

// consistencyOf reads --consistency.
func consistencyOf(letter string) (spec.Consistency, error) {
	return oneOf("consistency", letter, map[string]spec.Consistency{"l": spec.Linearizable, "s": spec.Serializable}, "l (linearizable) or s (serializable)")
}

// oneOf translates a word of the tool.
func oneOf[T any](flag, word string, words map[string]T, wanted string) (T, error) {
	value, known := words[word]
	if !known {
		return value, fmt.Errorf("--%s: wanted %s, found %q", flag, wanted, word)
	}
	return value, nil
}
