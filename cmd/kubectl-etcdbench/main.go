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
	// A hang-up is what a run gets whose terminal is gone.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	streams := command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(command.Main(version, os.Args[1:], streams, signals))
}
