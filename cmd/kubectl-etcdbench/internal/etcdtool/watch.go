package etcdtool

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// watch has the flags of the command watch.
type watch struct {
	streams, perStream, keySize int32
	watched, space, total, rate int64
	sequential                  bool
}

func (w *watch) define(set *pflag.FlagSet) {
	set.Int32Var(&w.streams, "streams", 10, "`N` streams of watchers: watch.streams")
	set.Int32Var(&w.perStream, "watch-per-stream", 100, "`N` watchers on each stream: watch.watchersPerStream")
	set.Int64Var(&w.watched, "watched-key-total", 1, "`N` watched keys. The smaller of this and --key-space-size: keys.count")
	set.Int64Var(&w.space, "key-space-size", 1, "`N` different keys. The smaller of this and --watched-key-total: keys.count")
	set.Int64Var(&w.rate, "put-rate", 0, rateHelp)
	set.Int64Var(&w.total, "put-total", 1000, totalHelp)
	set.Int32Var(&w.keySize, "key-size", 32, keySizeHelp)
	set.BoolVar(&w.sequential, "sequential-keys", false, "take the keys in turn, not at random: keys.distribution")
}

func (w *watch) run(_ []string, load spec.Load) (run, error) {
	return run{
		workload: watching(spec.Watch{
			Streams: w.streams, WatchersPerStream: w.perStream,
			// The tool puts "data". Here a value has at least what identifies its put.
			Keys: keys(min(w.watched, w.space), w.keySize, chosen(w.sequential)), Values: values(spec.MinMarkedValue),
		}),
		load: requests(load, w.total, w.rate),
	}, nil
}

// watching returns the workload with watchers of single keys.
func watching(w spec.Watch) spec.Workload {
	w.Scope = spec.WatchScopeKey
	return spec.Workload{Type: spec.WorkloadWatch, Watch: &w}
}

// connectsStreams gives the help of the flags that say how the streams are connected in the tool.
func connectsStreams(set *pflag.FlagSet, field string) {
	set.Lookup("conns").Usage = "`N` connections of the streams: " + field
	set.Lookup("clients").Usage = "only `N` = 1 is accepted: one client sends the requests"
}

// alone is the load of one client on a connection of its own, which the tool has beside its streams.
func alone(command string, load spec.Load) (spec.Load, error) {
	if load.Clients != 1 {
		return load, fmt.Errorf("--clients: %s has one client that sends requests, as in etcd's tool, where the "+
			"flag only spreads the streams: remove it, or set load.clients in the manifest (--print-manifest)", command)
	}
	load.Connections = 1
	return load, nil
}

// watchLatency has the flags of the command watch-latency.
type watchLatency struct {
	streams, perStream, keySize, valSize int32
	total, rate                          int64
	prevKV                               bool
}

func (w *watchLatency) define(set *pflag.FlagSet) {
	connectsStreams(set, "watch.connections")
	set.Int32Var(&w.streams, "streams", 10, "`N` streams of watchers: watch.streams")
	set.Int32Var(&w.perStream, "watchers-per-stream", 10, "`N` watchers on each stream: watch.watchersPerStream")
	set.BoolVar(&w.prevKV, "prevkv", false, "ask for the previous value with each event: watch.prevKV")
	set.Int64Var(&w.total, "put-total", 1000, totalHelp)
	set.Int64Var(&w.rate, "put-rate", 100, rateHelp)
	set.Int32Var(&w.keySize, "key-size", 32, keySizeHelp)
	set.Int32Var(&w.valSize, "val-size", 32, valSizeHelp+", at least 16")
}

func (w *watchLatency) run(_ []string, load spec.Load) (run, error) {
	streams := load.Connections
	load, err := alone("watch-latency", load)
	return run{
		workload: watching(spec.Watch{
			Streams: w.streams, WatchersPerStream: w.perStream, Connections: streams, PrevKV: w.prevKV,
			Keys: keys(1, w.keySize, spec.Sequential), Values: values(w.valSize),
		}),
		load: requests(load, w.total, w.rate),
	}, err
}

// watchGet has the flags of the command watch-get.
type watchGet struct{ watchers, streams, events, seconds int32 }

func (w *watchGet) define(set *pflag.FlagSet) {
	connectsStreams(set, "watchGet.connections")
	set.Int32Var(&w.watchers, "watchers", 10_000, "`N` watchers: watchGet.watchersPerStream times watchGet.streams")
	set.Int32Var(&w.streams, "streams", 1, "`N` streams of watchers: watchGet.streams")
	set.Int32Var(&w.events, "events", 8, "`N` events for each watcher: watchGet.events")
	set.Int32Var(&w.seconds, "duration-seconds", 10, "read for `SECONDS`: load.durationSeconds. Not a flag of etcd's tool, which ends when each watcher has read its events once")
}

func (w *watchGet) run(_ []string, load spec.Load) (run, error) {
	if w.streams < 1 || w.watchers < 1 || w.watchers%w.streams != 0 {
		return run{}, fmt.Errorf("--watchers: wanted a multiple of --streams (%d), found %d: each stream has equally many watchers", w.streams, w.watchers)
	}
	streams := load.Connections
	load, err := alone("watch-get", load)
	load.DurationSeconds = &w.seconds
	return run{
		workload: spec.Workload{Type: spec.WorkloadWatchGet, WatchGet: &spec.WatchGet{
			Streams: w.streams, WatchersPerStream: w.watchers / w.streams, Connections: streams, Events: w.events,
			Keys: keys(1, 8, spec.Sequential), Values: values(spec.MinMarkedValue),
		}},
		load: load,
	}, err
}
