package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/refused"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const checkExample = `  # Is this etcd good enough for a small cluster?
  kubectl etcdbench check --endpoints 10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379

  # A larger load, with TLS and a user, as etcdctl takes them
  ETCDCTL_ENDPOINTS=https://10.0.0.1:2379 kubectl etcdbench check --profile Medium \
    --cacert ca.crt --cert client.crt --key client.key --user root:secret

  # Would it keep up with a Kubernetes cluster of 500 nodes?
  kubectl etcdbench check --endpoints 10.0.0.1:2379 --kubernetes-nodes 500

  # On three members that the command starts on this machine
  kubectl etcdbench check --members 3`

const checkHelp = `Says whether an etcd keeps up with a standard load. It needs no manifest and no Kubernetes.
For a minute it sends the puts of a profile. Then it judges errors, rate, slowest put and
standard deviation, and prints the answer; --details adds everything else. The profiles are
those of "etcdctl check perf" (--load=s to xl; "check perf" is the same command):

  Small    150 puts per second by 50 clients
  Medium   1,000 puts per second by 200 clients
  Large    8,000 puts per second by 500 clients
  XLarge   15,000 puts per second by 1,000 clients

With --kubernetes-nodes it sends what the API servers of a cluster of this size send in a
minute: renewals of node leases, pods, events and listings. docs/workload-kubernetes.md
has the numbers and the limits.

Each put of a profile has a key of 256 bytes after the run's prefix, and a value of
1,024 bytes. The keys are deleted at the end. A member with an alarm is not loaded, nor one
of etcd 3.6 or later whose quota would not suffice.

The flags --endpoints, ` + accessHelp + "\n\n" + checkExitHelp

// checkFlags are the flags of check.
type checkFlags struct {
	runFlags
	profile string
	nodes   int32
	// scale is the size of datascale; empty for check itself.
	scale string
	// prefix is etcdctl's name of target.keyPrefix.
	prefix string
}

func (t *tool) checkCommand() *cobra.Command {
	_, cmd := t.newCheck()
	return cmd
}

// newCheck returns the command with its flags.
func (t *tool) newCheck() (*checkFlags, *cobra.Command) {
	f := &checkFlags{}
	f.local, f.answer = true, answerOf
	cmd := &cobra.Command{
		Use:     "check --endpoints HOST:PORT,...",
		Short:   "Say whether an etcd keeps up with a standard load",
		Long:    checkHelp,
		Example: checkExample,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "perf" {
				return nil
			}
			return noArguments(cmd, args)
		},
		RunE: func(*cobra.Command, []string) error {
			err := t.check(f)
			return f.adviceOf().Error(err)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.profile, "profile", string(v1alpha1.ProfileSmall), "load and limits: Small, Medium, Large or XLarge. --load=s to xl, as etcdctl takes it, means the same")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "load" {
			name = "profile"
		}
		return pflag.NormalizedName(name)
	})
	flags.Int32Var(&f.nodes, "kubernetes-nodes", 0, "instead of --profile: send the requests of a Kubernetes cluster of `N` nodes, 50 to 5,000")
	f.addTarget(flags)
	cmd.AddCommand(t.datascaleCommand())
	return f, cmd
}

// addTarget defines the flags of etcdctl, and those for the result.
func (f *checkFlags) addTarget(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.access.Endpoints, "endpoints", nil, "members to check, as `HOST:PORT,...`; http:// or https:// before an address is allowed")
	f.addMembers(flags, "")
	f.access.Define(flags, "")
	for _, without := range ofCheckPerf {
		without.Define(flags)
	}
	flags.StringVar(&f.prefix, "prefix", "", "write keys under this `PREFIX`, which must have none: target.keyPrefix")
	f.addSet(flags)
	f.addOutputFlags(flags, "every 0.5s")
}

// ofCheckPerf are the flags of "etcdctl check perf" that are refused.
var ofCheckPerf = []refused.Flag{
	{Name: "auto-compact", Switch: true, Harmless: "false", Advice: "the check deletes its keys and does not compact: remove it, and run etcdctl compact after the check"},
	{Name: "auto-defrag", Switch: true, Harmless: "false", Advice: "the check does not defragment: remove it, and run etcdctl defrag for one member after the other"},
}

// The numbers of nodes that the API accepts.
const minNodes, maxNodes = 50, 5000

// profiles are the profiles by their names in lower case, and by etcdctl's.
var profiles = map[string]v1alpha1.Profile{
	"s": v1alpha1.ProfileSmall, "small": v1alpha1.ProfileSmall,
	"m": v1alpha1.ProfileMedium, "medium": v1alpha1.ProfileMedium,
	"l": v1alpha1.ProfileLarge, "large": v1alpha1.ProfileLarge,
	"xl": v1alpha1.ProfileXLarge, "xlarge": v1alpha1.ProfileXLarge,
}

func (f *checkFlags) check() error {
	switch {
	case f.given("profile") && f.given("kubernetes-nodes"):
		return errors.New("--profile and --kubernetes-nodes both set the load: give one of them")
	case f.scale != "" && scales[f.scale].keys == 0:
		return fmt.Errorf("--load: wanted s, m, l or xl, found %q", f.scale)
	case f.scale == "" && f.profileOf() == "":
		return fmt.Errorf("--profile (or --load): wanted Small (or s), Medium (m), Large (l) or XLarge (xl), found %q", f.profile)
	case f.given("kubernetes-nodes") && (f.nodes < minNodes || f.nodes > maxNodes):
		return fmt.Errorf("--kubernetes-nodes: wanted %d to %s, found %d", minNodes, text.Grouped(maxNodes), f.nodes)
	case len(f.access.Endpoints) == 0 && f.options.Members == 0:
		return errors.New("wanted the members to check, found none: add --endpoints host:port,…, or set ETCDCTL_ENDPOINTS; --members 3 tries the command without an etcd")
	}
	return errors.Join(f.checkLocal(), f.following.check())
}

func (t *tool) check(f *checkFlags) error {
	if err := t.reach(&f.runFlags); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	m, err := f.manifest()
	if err != nil {
		return err
	}
	if f.prefix != "" {
		f.sets = append(f.sets, "target.keyPrefix="+f.prefix)
	}
	return t.runMade(&f.runFlags, m, f.adviceOf())
}

// profileOf is empty for an unknown profile.
func (f *checkFlags) profileOf() v1alpha1.Profile { return profiles[strings.ToLower(f.profile)] }

// manifest is the manifest of a check.
func (f *checkFlags) manifest() (*manifest.Manifest, error) {
	return manifest.Read("the check", strings.NewReader(fmt.Sprintf(checkManifest, v1alpha1.GroupVersion, f.load())))
}

// load is the field of the manifest that sets the load.
func (f *checkFlags) load() string {
	if f.scale != "" {
		return scales[f.scale].load()
	}
	if f.given("kubernetes-nodes") {
		return fmt.Sprintf("kubernetes: {nodes: %d}", f.nodes)
	}
	return "profile: " + string(f.profileOf())
}

// checkManifest has an address that is replaced.
const checkManifest = `
apiVersion: %s
kind: EtcdBenchmark
metadata: {name: check}
spec:
  %s
  target: {endpoints: ["127.0.0.1:2379"]}
`
