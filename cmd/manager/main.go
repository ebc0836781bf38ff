package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// version is set by the linker.
var version = "devel"

// Exit statuses.
const (
	exitDone = iota
	// exitFailed: the manager, or the removal of runs, could not do its work.
	exitFailed
	// exitUsage: the command line makes no sense.
	exitUsage
)

// errUsage is what errors of the command line are.
var errUsage = errors.New("manager --help lists what there is")

func main() {
	ctx := ctrl.SetupSignalHandler()
	err := run(ctx, os.Args[1:])
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
	setLogger()
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("wanted a cluster by --kubeconfig, KUBECONFIG or a service account: %w", err)
	}
	m, err := newManager(config, o)
	if err != nil {
		return err
	}
	ctrl.Log.Info("Starting", "version", version, "clientImage", o.clientImage, "namespaces", o.namespaces)
	return m.Start(ctx)
}

func setLogger() {
	logger := logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, nil))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
}
