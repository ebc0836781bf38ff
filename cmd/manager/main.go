package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"syscall"

	ctrl "sigs.k8s.io/controller-runtime"
)

// version is set by the linker.
var version = "devel"

// Exit statuses.
const (
	exitDone = iota
	// exitFailed: the manager or the uninstall failed.
	exitFailed
	// exitUsage: the command line is wrong.
	exitUsage
)

// errUsage is wrapped by all errors of the command line.
var errUsage = errors.New("manager --help lists the flags")

func main() {
	ctx := ctrl.SetupSignalHandler()
	err := run(ctx, os.Args[1:])
	if errors.Is(err, errNamespacesChanged) {
		err = restart()
	}
	status := statusOf(err)
	if status != exitDone {
		fmt.Fprintln(os.Stderr, "manager:", err)
	}
	os.Exit(status)
}

func statusOf(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errUsage):
		return exitUsage
	}
	return exitFailed
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "uninstall" {
		return uninstallCommand(ctx, args[1:])
	}
	o, err := parseOptions(args, os.Stderr)
	if err != nil {
		return err
	}
	if o.version {
		fmt.Println("etcd-benchmark-operator", version)
		return nil
	}
	o.log.set(os.Stderr)
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("found no cluster; set --kubeconfig or KUBECONFIG, or run in a pod with a service account: %w", err)
	}
	return serve(ctx, config, o)
}

// restart replaces this process by a new one with the same arguments. If the process ended instead, the kubelet would wait
// longer each time before it starts the container. So a user who changes the rights in one namespace could delay all runs.
func restart() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, os.Environ())
}
