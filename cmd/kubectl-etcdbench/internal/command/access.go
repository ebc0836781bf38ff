package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// access has the flags of etcdctl that give access to a target: certificates, and a user.
type access struct {
	caCert, cert, key, user, pass string
	insecure                      bool
	// tlsFrom is the flag or the variable that asks for TLS.
	tlsFrom string
}

// accessFlags are the names of the flags, tlsFlags of those for TLS.
var (
	tlsFlags    = []string{"cacert", "cert", "key"}
	accessFlags = append(slices.Clone(tlsFlags), "user", "password", "insecure-skip-tls-verify")
)

// accessHelp is a part of the help of each command that has these flags.
const accessHelp = `--cacert, --cert, --key, --user and --password are those of etcdctl,
and so are the variables ETCDCTL_ENDPOINTS, ETCDCTL_CACERT, ETCDCTL_CERT, ETCDCTL_KEY,
ETCDCTL_USER and ETCDCTL_PASSWORD. A flag takes precedence over its variable. Embedded
members ignore the variables.`

var errUnchecked = errors.New("--insecure-skip-tls-verify: the certificates of the members are always checked: remove it, and give their CA with --cacert. If a certificate does not cover the address, set spec.target.tls.serverName in a manifest")

// addFlags defines the flags. where says when they can be used.
func (a *access) addFlags(flags *pflag.FlagSet, where string) {
	flags.StringVar(&a.caCert, "cacert", "", where+"use TLS, and check the certificates of the members with this CA `FILE`")
	flags.StringVar(&a.cert, "cert", "", where+"`FILE` with a client certificate")
	flags.StringVar(&a.key, "key", "", where+"`FILE` with the key of the client certificate")
	flags.StringVar(&a.user, "user", "", where+"log in as `NAME[:PASSWORD]`")
	flags.StringVar(&a.pass, "password", "", where+"`PASSWORD` of the user, if --user has none. ETCDCTL_PASSWORD keeps it out of the list of processes")
	flags.BoolVar(&a.insecure, "insecure-skip-tls-verify", false, "not supported: give the CA with --cacert")
	_ = flags.MarkHidden("insecure-skip-tls-verify")
}

// accessFromEnvironment fills the flags that are not given from the variables of etcdctl. A folder outweighs them.
// Embedded members have neither TLS nor users.
func (f *runFlags) accessFromEnvironment() {
	a := &f.access
	if f.given("cacert") {
		a.tlsFrom = "--cacert"
	}
	if !f.local || f.options.EmbeddedMembers > 0 {
		return
	}
	take := func(flag string, value *string) {
		variable := "ETCDCTL_" + strings.ToUpper(flag)
		if f.given(flag) || os.Getenv(variable) == "" {
			return
		}
		*value = os.Getenv(variable)
		if flag == "cacert" {
			a.tlsFrom = variable
		}
	}
	if f.options.TLSDir == "" {
		take("cacert", &a.caCert)
		take("cert", &a.cert)
		take("key", &a.key)
	}
	if f.options.AuthDir == "" {
		take("user", &a.user)
		take("password", &a.pass)
	}
}

// checkAccess checks the flags, after those that are not given were filled.
func (f *runFlags) checkAccess() error {
	a, given := f.access, f.firstGiven(accessFlags)
	switch {
	case a.insecure:
		return errUnchecked
	case f.options.EmbeddedMembers > 0 && given != "":
		return fmt.Errorf("--%s: embedded members have neither TLS nor users: remove it, or --embedded-members", given)
	case f.options.TLSDir != "" && f.firstGiven(tlsFlags) != "":
		return fmt.Errorf("--tls-dir and --%s both give certificates: remove one of them", f.firstGiven(tlsFlags))
	case f.options.AuthDir != "" && f.firstGiven([]string{"user", "password"}) != "":
		return errors.New("--auth-dir and --user both give a user: remove one of them")
	case (a.cert == "") != (a.key == ""):
		return errors.New("--cert and --key belong together: wanted both, found one")
	case a.cert != "" && a.caCert == "":
		return errors.New("--cert needs --cacert: the certificates of the members are checked, too")
	case f.given("password") && a.user == "":
		return errors.New("--password needs --user: add the name of the user")
	case a.user != "" && !strings.Contains(a.user, ":") && a.pass == "":
		return fmt.Errorf("--user: wanted a password for %q, found none: set ETCDCTL_PASSWORD, or add --password", a.user)
	}
	return nil
}

// endpointsFromEnvironment takes the addresses from etcdctl's variable if nothing else has any.
func (f *runFlags) endpointsFromEnvironment() {
	if variable := os.Getenv("ETCDCTL_ENDPOINTS"); variable != "" && f.local && !f.given("endpoints") && f.options.EmbeddedMembers == 0 {
		f.endpoints = strings.Split(variable, ",")
	}
}

// hasAddresses reports whether a manifest says by itself where the load goes, as far as this machine can tell.
func hasAddresses(m *manifest.Manifest) bool {
	store, given := m.Text("spec.target.datastore")
	return m.IsSuite() || m.Has(endpointsField) || given && store != "Etcd"
}

// withAccess calls do with the certificates and the user in folders, as Secrets are mounted in a client pod.
func (f *runFlags) withAccess(do func() error) error {
	if f.access.caCert == "" && f.access.user == "" {
		return do()
	}
	folder, err := os.MkdirTemp("", "etcdbench-access-")
	if err != nil {
		return fmt.Errorf("making a folder for certificates and user: %w", err)
	}
	defer os.RemoveAll(folder)
	if err := f.writeSecrets(folder); err != nil {
		return err
	}
	return do()
}

// writeSecrets puts the user into files of a folder, and links the certificates into another.
func (f *runFlags) writeSecrets(folder string) error {
	a := f.access
	if a.caCert != "" {
		f.options.TLSDir = filepath.Join(folder, "tls")
		if err := link(f.options.TLSDir, map[string]string{plan.CAFile: a.caCert, plan.CertFile: a.cert, plan.KeyFile: a.key}); err != nil {
			return err
		}
	}
	if a.user == "" {
		return nil
	}
	name, password, found := strings.Cut(a.user, ":")
	if !found {
		password = a.pass
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
