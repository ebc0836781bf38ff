// Command kubectl-etcdbench runs etcd benchmarks and follows them. As a kubectl plugin it is called kubectl etcdbench.
package main

import (
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/command"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
)

// version is set by the linker.
var version = "devel"

// collectorPercent keeps the peak of memory low: this program's garbage arises while it starts and while it writes a
// result. A local run chooses its own percentage if its transport needs one.
const collectorPercent = 30

func main() {
	supervisor.Main()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
	// Two signals: the first ends the run, the second exits at once.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endSignals()...)
	// If the reader of the output exits, the run still has to delete its keys.
	signal.Ignore(syscall.SIGPIPE)
	streams := command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(command.Main(version, os.Args[1:], streams, signals))
}

// endSignals includes the hang-up of a closed terminal, unless the parent ignores it, as nohup does.
func endSignals() []os.Signal {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	return ends
}
