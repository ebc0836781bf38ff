// Command kubectl-etcdbench runs etcd benchmarks and follows them. As a plugin
// it is kubectl etcdbench.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/command"
)

// version is set by the linker.
var version = "devel"

func main() {
	// Room for two: the first ends the run, the second does not wait for that.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endSignals()...)
	// A run whose reader has gone still has keys to delete.
	signal.Ignore(syscall.SIGPIPE)
	streams := command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(command.Main(version, os.Args[1:], streams, signals))
}

// endSignals has the hang-up, which a run gets whose terminal is gone, unless
// it was told to outlive that, by nohup for example.
func endSignals() []os.Signal {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	return ends
}
