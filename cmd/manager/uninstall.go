package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/etcdbench/etcd-benchmark-operator/internal/uninstall"
)

const uninstallUsage = `manager uninstall ends and cleans the runs that go on. The chart runs it before
it removes the operator.

Flags:
`

// uninstallCommand is `manager uninstall`: the chart runs it before it removes
// the operator.
func uninstallCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("manager uninstall", flag.ContinueOnError)
	config.RegisterFlags(flags)
	timeout := flags.Duration("timeout", 3*time.Minute, "how long the operator may take to end and clean the runs that go on")
	namespaces := flags.String("namespaces", "", "comma-separated namespaces to look at; by default all")
	if err := parse(flags, uninstallUsage, args, os.Stderr); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("wanted flags only, found %q; %w", flags.Arg(0), errUsage)
	}
	setLogger()
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("wanted a cluster by --kubeconfig, KUBECONFIG or a service account: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return err
	}
	runs := uninstall.Runs{Client: c, Poll: time.Second, Log: os.Stdout}
	if *namespaces != "" {
		runs.Namespaces = strings.Split(*namespaces, ",")
	}
	return runs.Release(ctx, *timeout)
}
