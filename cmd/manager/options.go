package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/etcdbench/etcd-benchmark-operator/controllers"
)

// options are the manager's flags.
type options struct {
	clientImage             string
	metricsAddress          string
	probeAddress            string
	leaderElect             bool
	leaderElectionNamespace string
	namespaces              []string
	caps                    controllers.Caps
	version                 bool
}

const usage = `manager is the operator of EtcdBenchmarks: it runs them as Jobs in the cluster
that it is in, and writes their results.

Usage:
  manager [flags]            work until a signal comes
  manager uninstall [flags]  end and clean the runs that go on; the chart does
                             that before it removes the operator

Exit status: 0 done, 1 it could not do its work, 2 the command line makes no
sense.

Flags:
`

func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	config.RegisterFlags(flags)
	flags.StringVar(&o.clientImage, "client-image", "", "image of the client pods; normally the manager's own (required)")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "address of the manager's metrics, served by HTTPS to those whom the cluster allows to get /metrics; 0 turns them off")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 turns them off")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "let one of several replicas lead")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "", "namespace of the lease; by default the manager's own")
	flags.Func("namespaces", "comma-separated namespaces to work in; by default all", appendNames(&o.namespaces))
	o.registerCaps(flags)
	flags.BoolVar(&o.version, "version", false, "print the version and exit")
	if err := parse(flags, usage, args, out); err != nil {
		return o, err
	}
	return o, o.check(flags.Args())
}

// parse prints help where that is asked for, and only there: what is wrong with
// a flag would be lost among all that there are.
func parse(flags *flag.FlagSet, usage string, args []string, out io.Writer) error {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		flags.SetOutput(out)
		flags.PrintDefaults()
		return err
	case err != nil:
		return fmt.Errorf("%w; %w", err, errUsage)
	}
	return nil
}

// registerCaps adds the flags of what any run may do.
func (o *options) registerCaps(flags *flag.FlagSet) {
	flags.Func("allowed-endpoints", "comma-separated hosts that runs may load: CIDRs such as 10.0.0.0/8, names such as *.etcd.svc; by default any", listOf(&o.caps.Endpoints, controllers.ParseHostPattern))
	flags.Func("control-plane-endpoints", "comma-separated addresses of the etcd of a Kubernetes API server, which only runs with guard.acknowledgeControlPlane may load: CIDRs or names as above, each with a port (10.0.0.1:2379) or without; names are looked up", listOf(&o.caps.ControlPlane, controllers.ParseEndpointPattern))
	flags.Int64Var(&o.caps.PodsPerRun, "max-pods-per-run", 0, "how many client pods a run may have; 0 is any number")
	flags.Int64Var(&o.caps.RunsPerNamespace, "max-runs-per-namespace", 0, "how many runs of a namespace may go on or wait at a time; 0 is any number")
	flags.Int64Var(&o.caps.RatePerRun, "max-rate-per-run", 0, "highest load.rate of a run, in requests per second, which refuses closed loops; writing keys before the load and disturbances do not count, and a request can be several calls to etcd; 0 is any number")
}

// listOf reads a flag's comma-separated values into a list.
func listOf[T any](list *[]T, parse func(string) (T, error)) func(string) error {
	return func(value string) error {
		for _, text := range strings.Split(value, ",") {
			item, err := parse(strings.TrimSpace(text))
			if err != nil {
				return err
			}
			*list = append(*list, item)
		}
		return nil
	}
}

// appendNames reads a comma-separated list of names, of which none is empty.
func appendNames(list *[]string) func(string) error {
	return func(value string) error {
		for _, n := range strings.Split(value, ",") {
			if n = strings.TrimSpace(n); n != "" {
				*list = append(*list, n)
			}
		}
		return nil
	}
}

func (o *options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("wanted flags only, found %q; %w", rest[0], errUsage)
	case o.caps.PodsPerRun < 0 || o.caps.RunsPerNamespace < 0 || o.caps.RatePerRun < 0:
		return fmt.Errorf("wanted numbers of at least 0 for --max-pods-per-run, --max-runs-per-namespace and --max-rate-per-run; %w", errUsage)
	case o.clientImage == "" && !o.version:
		return fmt.Errorf("wanted the image of the client pods, found none: set --client-image to the image that this manager runs from; %w", errUsage)
	}
	return nil
}
