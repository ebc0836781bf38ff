package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const checkExample = `  # Is this etcd good enough for a small cluster?
  kubectl etcdbench check --endpoints 10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379

  # A larger load, with TLS and a user, as etcdctl takes them
  ETCDCTL_ENDPOINTS=https://10.0.0.1:2379 kubectl etcdbench check --profile Medium \
    --cacert ca.crt --cert client.crt --key client.key --user root:secret

  # On three members that the command starts on this machine
  kubectl etcdbench check --embedded-members 3`

const checkHelp = `Says whether an etcd serves a known load, without a manifest and without a cluster. It sends
the puts of a profile for a minute, with its limits for errors, rate, slowest put and
standard deviation. The profiles are those of "etcdctl check perf" (--load=s to xl):

  Small    150 puts per second by 50 clients
  Medium   1,000 puts per second by 200 clients
  Large    8,000 puts per second by 500 clients
  XLarge   15,000 puts per second by 1,000 clients

Each put has a key of 256 and a value of 1,024 bytes. The keys are deleted at the end. The
same guard as for a run protects the etcd.

The names of the flags for the target, and the variables ETCDCTL_ENDPOINTS,
ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY, ETCDCTL_USER and ETCDCTL_PASSWORD, are those
of etcdctl. A flag outweighs its variable.

` + exitHelp

// checkFlags are the flags of check.
type checkFlags struct {
	runFlags
	profile                       string
	caCert, cert, key, user, pass string
}

func (t *tool) checkCommand() *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use:     "check --endpoints HOST:PORT,...",
		Short:   "Say whether an etcd serves a known load",
		Long:    checkHelp,
		Example: checkExample,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return t.check(f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.profile, "profile", string(v1alpha1.ProfileSmall), "load and limits: Small, Medium, Large or XLarge")
	flags.StringSliceVar(&f.endpoints, "endpoints", nil, "members to check, as `HOST:PORT,...`; http:// or https:// before an address is allowed")
	flags.IntVar(&f.options.EmbeddedMembers, "embedded-members", 0, "start `N` etcd members (1 to 9) in this process and check them")
	flags.StringVar(&f.caCert, "cacert", "", "check the certificates of the members with this CA `FILE`. It makes the command use TLS")
	flags.StringVar(&f.cert, "cert", "", "`FILE` with a client certificate")
	flags.StringVar(&f.key, "key", "", "`FILE` with the key of the client certificate")
	flags.StringVar(&f.user, "user", "", "log in as `NAME[:PASSWORD]`")
	flags.StringVar(&f.pass, "password", "", "`PASSWORD` of the user, if --user has none. A variable keeps it out of the list of processes: ETCDCTL_PASSWORD")
	f.addFlags(flags, "every 0.5s")
	return cmd
}

// fromEnvironment fills the flags that are not given from the variables of etcdctl.
func (f *checkFlags) fromEnvironment() {
	for name, flag := range map[string]*string{"CACERT": &f.caCert, "CERT": &f.cert, "KEY": &f.key, "USER": &f.user, "PASSWORD": &f.pass} {
		if !f.given(strings.ToLower(name)) {
			*flag = os.Getenv("ETCDCTL_" + name)
		}
	}
	if endpoints := os.Getenv("ETCDCTL_ENDPOINTS"); endpoints != "" && !f.given("endpoints") && f.options.EmbeddedMembers == 0 {
		f.endpoints = strings.Split(endpoints, ",")
	}
}

var profiles = []v1alpha1.Profile{v1alpha1.ProfileSmall, v1alpha1.ProfileMedium, v1alpha1.ProfileLarge, v1alpha1.ProfileXLarge}

func (f *checkFlags) check() error {
	switch {
	case !slices.Contains(profiles, v1alpha1.Profile(f.profile)):
		return fmt.Errorf("--profile: wanted Small, Medium, Large or XLarge, found %q", f.profile)
	case len(f.endpoints) == 0 && f.options.EmbeddedMembers == 0:
		return errors.New("wanted the members to check, found none: add --endpoints host:port,…, or set ETCDCTL_ENDPOINTS; --embedded-members 3 tries the command without an etcd")
	case len(f.endpoints) > 0 && f.options.EmbeddedMembers > 0:
		return errors.New("--embedded-members and --endpoints both set the target: give one of them")
	case f.options.EmbeddedMembers > 0 && f.caCert+f.cert+f.key+f.user != "":
		return errors.New("embedded members have neither TLS nor users: remove --cacert, --cert, --key, --user and their ETCDCTL_ variables, or --embedded-members")
	case (f.cert == "") != (f.key == ""):
		return errors.New("--cert and --key belong together: wanted both, found one")
	case f.cert != "" && f.caCert == "":
		return errors.New("--cert needs --cacert: the certificates of the members are checked, too")
	}
	return f.following.check()
}

func (t *tool) check(f *checkFlags) error {
	f.local, f.answer = true, answerOf
	f.fromEnvironment()
	if err := f.check(); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "etcdbench-check-")
	if err != nil {
		return fmt.Errorf("making a folder for certificates and user: %w", err)
	}
	defer os.RemoveAll(folder)
	if err := f.writeSecrets(folder); err != nil {
		return err
	}
	m, err := manifest.Read("the check", strings.NewReader(fmt.Sprintf(checkManifest, v1alpha1.GroupVersion, f.profile)))
	if err != nil {
		return err
	}
	if err := f.destinations.open(t.Out, f.following); err != nil {
		return err
	}
	defer f.destinations.discard()
	return t.runLocally(&f.runFlags, m)
}

// answerOf says in one sentence what a check found. It claims no more than was measured.
func answerOf(run *v1alpha1.EtcdBenchmark) string {
	finished := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	s, load := run.Status.Summary, run.Resolved().Load
	switch {
	case finished == nil || finished.Reason != v1alpha1.ReasonCompleted || s == nil || len(s.Operations) == 0 || s.Operations[0].Latency == nil || passed == nil:
		return fmt.Sprintf("No verdict on the profile %s: the check ended early.", run.Spec.Profile)
	case passed.Status == metav1.ConditionFalse:
		return fmt.Sprintf("Not good enough for the profile %s: %s", run.Spec.Profile, passed.Message)
	case passed.Status != metav1.ConditionTrue:
		return fmt.Sprintf("No verdict on the profile %s: %s", run.Spec.Profile, passed.Message)
	}
	latency := s.Operations[0].Latency
	return fmt.Sprintf("Good enough for the profile %s: it answered %s of %s puts per second for %s, p99 %s, the slowest %s.", run.Spec.Profile,
		text.RateIn(s.ThroughputPerSecond).Digits(), text.Grouped(load.Rate.PerSecond), text.Micros(s.DurationMicroseconds), text.Micros(latency.P99Microseconds), text.Micros(latency.MaxMicroseconds))
}

// checkManifest has an address that is replaced.
const checkManifest = `
apiVersion: %s
kind: EtcdBenchmark
metadata: {name: check}
spec:
  profile: %s
  target: {endpoints: ["127.0.0.1:2379"]}
`

// writeSecrets puts the user into files of a folder, and links the certificates into another, as Secrets are mounted in a
// client pod.
func (f *checkFlags) writeSecrets(folder string) error {
	if f.caCert != "" {
		f.options.TLSDir = filepath.Join(folder, "tls")
		if err := link(f.options.TLSDir, map[string]string{plan.CAFile: f.caCert, plan.CertFile: f.cert, plan.KeyFile: f.key}); err != nil {
			return err
		}
	}
	if f.user == "" {
		return nil
	}
	name, password, found := strings.Cut(f.user, ":")
	if !found {
		password = f.pass
	}
	f.options.AuthDir = filepath.Join(folder, "auth")
	if err := os.Mkdir(f.options.AuthDir, 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(f.options.AuthDir, plan.UsernameFile), []byte(name), 0o600),
		os.WriteFile(filepath.Join(f.options.AuthDir, plan.PasswordFile), []byte(password), 0o600),
	)
}

// link makes a folder of links to files; those without a path are left out.
func link(folder string, files map[string]string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	for name, path := range files {
		if path == "" {
			continue
		}
		absolute, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(absolute); err != nil {
			return fmt.Errorf("reading a certificate: %w", err)
		}
		if err := os.Symlink(absolute, filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}
