package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/etcdbench/etcd-benchmark-operator/controllers"
)

// options are the manager's flags.
type options struct {
	clientImage             string
	metricsAddress          string
	metricsCertificate      string
	probeAddress            string
	pprofAddress            string
	log                     logOptions
	leaderElect             bool
	leaderElectionNamespace string
	namespaces              []string
	workers                 int
	caps                    controllers.Caps
	memberUser              int64
	kubelets                controllers.KubeletConfig
	version                 bool
}

const usage = `manager is the operator of EtcdBenchmarks. It runs them as Jobs in its cluster and writes
their results into their status.

Usage:
  manager [flags]            run the operator until SIGTERM or SIGINT
  manager uninstall [flags]  stop all unfinished runs and delete their keys; the Helm
                             chart does this before it removes the operator. For its
                             flags: manager uninstall --help

Exit status:
  0  done
  1  failed
  2  wrong command line

Flags:
`

func parseOptions(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	config.RegisterFlags(flags)
	flags.StringVar(&o.clientImage, "client-image", "", "`IMAGE` of the client pods, normally the manager's own (required)")
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "`ADDRESS` of the manager's metrics, served with HTTPS to clients that RBAC allows to get /metrics; 0 turns them off")
	flags.StringVar(&o.metricsCertificate, "metrics-certificate", "", "`FOLDER` with the certificate of the "+
		"metrics: the files tls.crt and tls.key, read again when they change; by default the manager signs a "+
		"certificate itself, which no scraper can verify")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "`ADDRESS` of /healthz and /readyz; 0 turns them off")
	flags.Func("pprof-bind-address", "loopback `ADDRESS` of Go's profiles below /debug/pprof, such as localhost:6060; "+
		"they are served without authentication. By default they are off", loopbackAddress(&o.pprofAddress))
	o.log.register(flags)
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "elect a leader, so that only one of several replicas works")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "", "`NAMESPACE` of the leader's lease; by default the manager's own")
	flags.Func("namespaces", "`NAMESPACES` of the runs, separated by commas; by default all. The operator leaves "+
		"out a namespace that it may not read, and starts again when it may", appendNames(&o.namespaces))
	flags.IntVar(&o.workers, "workers", controllers.DefaultWorkers, "how many runs the operator handles at a time. "+
		"A higher number makes it faster when many runs end together, and sends more requests to the API server")
	flags.Int64Var(&o.memberUser, "member-user", 65532, "`ID` of the user and group of members that runs start; 0 leaves it to the image or the cluster, as on OpenShift")
	flags.IntVar(&o.kubelets.Port, "kubelet-port", 0, "`PORT` of kubelets, normally 10250: the operator reads the use of members' pods "+
		"from the kubelets of their nodes, and needs the right to get nodes/metrics; 0 turns this off")
	flags.StringVar(&o.kubelets.CAFile, "kubelet-ca", "", "`FILE` with the CA of the kubelets' certificates; by default the cluster's CA")
	flags.BoolVar(&o.kubelets.Insecure, "kubelet-insecure", false, "accept any certificate of a kubelet. A program that answers at the "+
		"address of a node gets the operator's token")
	o.registerCaps(flags)
	flags.BoolVar(&o.version, "version", false, "print the version and exit")
	if err := parse(flags, usage, args, out); err != nil {
		return o, err
	}
	return o, o.check(flags.Args())
}

// parse prints the help only on --help. With the help below it, the error of a wrong flag would be hard to find.
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

// registerCaps adds the flags that limit all runs.
func (o *options) registerCaps(flags *flag.FlagSet) {
	flags.Func("allowed-endpoints", "`HOSTS` to which runs may send load, separated by commas: CIDRs such as "+
		"10.0.0.0/8, names such as *.etcd.svc; by default any", listOf(&o.caps.Endpoints, controllers.ParseHostPattern))
	flags.Func("control-plane-endpoints", "`ADDRESSES` of etcd clusters that Kubernetes API servers use, separated "+
		"by commas. Each is a CIDR or a name as for --allowed-endpoints, with or without a port (10.0.0.1:2379). "+
		"The operator resolves names. It refuses runs against these addresses, unless they set "+
		"spec.guard.acknowledgeControlPlane", listOf(&o.caps.ControlPlane, controllers.ParseEndpointPattern))
	flags.Int64Var(&o.caps.PodsPerRun, "max-pods-per-run", 0, "maximum number of client pods per run; 0: no limit")
	flags.Int64Var(&o.caps.RunsPerNamespace, "max-runs-per-namespace", 0, "maximum number of runs of a namespace that run at a time; the others wait. 0: no limit")
	flags.Int64Var(&o.caps.RatePerRun, "max-rate-per-run", 0, "maximum spec.load.rate of a run, in requests per "+
		"second; 0: no limit. If this limit is set, the operator also refuses closed loops, because they have no "+
		"rate. The limit does not apply to the preload (keys written before the load) and to spec.disturbances. It "+
		"counts requests, and one request can make several calls to etcd")
	flags.Func("member-images", "`IMAGES` that members of spec.target.ephemeral may have, separated by commas, with * for "+
		"any text without a slash: registry.example.org/etcd:*. By default none: runs cannot start members",
		listOf(&o.caps.MemberImages, controllers.ParseImagePattern))
	flags.Int64Var(&o.caps.MembersPerRun, "max-members-per-run", 0, "maximum spec.target.ephemeral.replicas; 0: no limit")
	flags.Func("max-member-storage", "maximum `SIZE` of each member's volume, such as 20Gi; by default no limit", func(text string) error {
		size, err := resource.ParseQuantity(text)
		o.caps.MemberStorageBytes = size.Value()
		return err
	})
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

// loopbackAddress reads an address that only this machine, or this pod, can reach.
func loopbackAddress(address *string) func(string) error {
	return func(value string) error {
		host, _, err := net.SplitHostPort(value)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && !ip.IsLoopback() {
			return errors.New("wanted a port on localhost or on a loopback address, such as localhost:6060")
		}
		*address = value
		return nil
	}
}

// appendNames reads a comma-separated list of names, without empty ones.
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

// ownNamespace is that of the operator's lease; empty outside a cluster.
func (o options) ownNamespace() string {
	if o.leaderElectionNamespace != "" {
		return o.leaderElectionNamespace
	}
	name, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}

func (o *options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("wanted flags only, found %q; %w", rest[0], errUsage)
	case o.caps.PodsPerRun < 0 || o.caps.RunsPerNamespace < 0 || o.caps.RatePerRun < 0 || o.caps.MembersPerRun < 0 || o.caps.MemberStorageBytes < 0 || o.memberUser < 0:
		return fmt.Errorf("found a negative limit, wanted at least 0 for --max-pods-per-run, --max-runs-per-namespace, --max-rate-per-run, --max-members-per-run, --max-member-storage and --member-user; %w", errUsage)
	case o.kubelets.Port < 0 || o.kubelets.Port > 65535 || o.kubelets.Insecure && o.kubelets.CAFile != "":
		return fmt.Errorf("wanted --kubelet-port from 0 to 65535, and --kubelet-ca or --kubelet-insecure, not both; %w", errUsage)
	case o.workers < 1:
		return fmt.Errorf("found --workers=%d, wanted at least 1; %w", o.workers, errUsage)
	case o.clientImage == "" && !o.version:
		return fmt.Errorf("found no image of the client pods: set --client-image, normally to the image of this manager; %w", errUsage)
	}
	return nil
}
