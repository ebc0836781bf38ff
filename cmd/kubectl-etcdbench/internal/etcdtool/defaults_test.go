package etcdtool

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// ownFlags returns the flags of a command that etcd's tool has, too, with their defaults, by name.
func ownFlags(c Command) string {
	set := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	c.Define(set)
	common := []string{"conns", "clients", "target-leader", "report-perfdash", "sample"}
	var all []string
	set.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !slices.Contains(common, f.Name) && !strings.Contains(f.Usage, "Not a flag of etcd's tool") {
			all = append(all, f.Name+"="+f.DefValue)
		}
	})
	return strings.Join(all, " ")
}

// The defaults are those in the sources of the tool, tools/benchmark/cmd of etcd 3.6 and 3.7.
func TestEachFlagHasTheDefaultOfTheTool(t *testing.T) {
	wants := map[string]string{
		"put":             "compact-index-delta=1000 compact-interval=0s key-size=8 key-space-size=1 rate=0 sequential-keys=false total=10000 val-size=8",
		"range":           "consistency=l count-only=false keys-only=false limit=0 paginate=false prefix=false rate=0 stream=false total=10000",
		"txn-put":         "key-size=8 key-space-size=1 rate=0 total=10000 txn-ops=1 val-size=8",
		"txn-mixed":       "consistency=l end-key= key-size=8 key-space-size=1 limit=1000 rate=0 rw-ratio=1 total=10000 val-size=8",
		"stm":             "isolation=r keys=1 keys-per-txn=1 rate=0 stm-locker=stm total=10000 txn-wr-percent=50 val-size=8",
		"lease-keepalive": "total=10000",
		"watch":           "key-size=32 key-space-size=1 put-rate=0 put-total=1000 sequential-keys=false streams=10 watch-per-stream=100 watched-key-total=1",
		"watch-latency":   "key-size=32 prevkv=false put-rate=100 put-total=1000 streams=10 val-size=32 watchers-per-stream=10",
		"watch-get":       "events=8 streams=1 watchers=10000",
	}
	for _, c := range Commands() {
		if got := ownFlags(c); got != wants[c.Name] {
			t.Errorf("%s: wanted\n%s\ngot\n%s", c.Name, wants[c.Name], got)
		}
	}
}

// The words that are values of flags mean what they mean in the tool.
func TestWordsOfTheTool(t *testing.T) {
	for word, want := range map[string]spec.Isolation{
		"c": spec.IsolationReadCommitted, "r": spec.IsolationRepeatableReads, "s": spec.IsolationSerializable, "ss": spec.IsolationSerializableSnapshot,
	} {
		if got := benchmark(t, "stm", "--isolation="+word).Spec.Workload.STM.Isolation; got != want {
			t.Errorf("the isolation %s is %s, wanted %s", word, got, want)
		}
	}
	for word, want := range map[string]spec.Locker{"stm": spec.LockerNone, "lock-client": spec.LockerClient, "lock-rpc": spec.LockerRPC} {
		if got := benchmark(t, "stm", "--stm-locker="+word).Spec.Workload.STM.Locker; got != want {
			t.Errorf("the locker %s is %s, wanted %s", word, got, want)
		}
	}
	for word, want := range map[string]spec.Consistency{"l": spec.Linearizable, "s": spec.Serializable} {
		ranges, mixed := benchmark(t, "range", "k", "--consistency="+word), benchmark(t, "txn-mixed", "--consistency="+word)
		if got := ranges.Spec.Workload.Range.Consistency; got != want || mixed.Spec.Workload.Mixed.Consistency != want {
			t.Errorf("the consistency %s is %s, wanted %s", word, got, want)
		}
	}
}
