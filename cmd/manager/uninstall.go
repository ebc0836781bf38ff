package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/etcdbench/etcd-benchmark-operator/internal/uninstall"
)

const uninstallUsage = `manager uninstall stops all unfinished suites and runs, and waits until the operator has deleted
their keys. The Helm chart runs it before it removes the operator.

Flags:
`

const (
	// requestTimeout ends a request that the API server does not answer, so that it is sent again.
	requestTimeout = 15 * time.Second
	// retryFor is how long it tries again to remove finalizers. The chart's Job ends 100 s after the timeout, so that its pod
	// has a minute to start.
	retryFor = 40 * time.Second
)

// uninstallCommand is `manager uninstall`.
func uninstallCommand(ctx context.Context, args []string) error {
	o, err := parseUninstall(args, os.Stderr)
	if err != nil {
		return err
	}
	o.log.set(os.Stderr)
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("found no cluster; set --kubeconfig or KUBECONFIG, or run in a pod with a service account: %w", err)
	}
	config.Timeout = requestTimeout
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return err
	}
	runs := uninstall.Runs{Client: c, Namespaces: o.namespaces, Poll: time.Second, Retry: retryFor, Log: os.Stdout}
	return runs.Release(ctx, o.timeout)
}

type uninstallOptions struct {
	timeout    time.Duration
	namespaces []string
	log        logOptions
}

func parseUninstall(args []string, stderr io.Writer) (o uninstallOptions, err error) {
	flags := flag.NewFlagSet("manager uninstall", flag.ContinueOnError)
	config.RegisterFlags(flags)
	flags.DurationVar(&o.timeout, "timeout", 3*time.Minute, "how long to wait until the operator has stopped the runs and deleted their keys")
	flags.Func("namespaces", "`NAMESPACES` of the runs, separated by commas; by default all", appendNames(&o.namespaces))
	o.log.register(flags)
	if err := parse(flags, uninstallUsage, args, stderr); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("wanted flags only, found %q; %w", flags.Arg(0), errUsage)
	}
	return o, nil
}
