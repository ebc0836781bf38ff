package access

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/refused"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// The flags that etcdctl does not have.
const (
	tlsDir     = "tls-dir"
	authDir    = "auth-dir"
	tokenFile  = "token-file"
	serverName = "tls-server-name"
)

// Flags are the flags of a command that give access to an etcd. After FromEnvironment they have the values of variables,
// too.
type Flags struct {
	// Endpoints are the addresses. A command defines the flag by itself, because its meaning differs.
	Endpoints []string
	// TLSDir and AuthDir are folders with the files of the Secrets. A command that has these flags defines them.
	TLSDir, AuthDir string
	// tokenFile has the token of a store that has tokens in place of users.
	tokenFile string
	// ServerName replaces the host of each address in the check of certificates.
	ServerName string

	files             map[string]*string
	user, password    string
	discovery         discovery
	set               *pflag.FlagSet
	fromVariable      map[string]bool
	endpointsGivenBy  string
	serverNameGivenBy string
}

// tlsFiles are the flags for certificates, with the keys of a Secret that they replace.
var tlsFiles = map[string]string{caCert: plan.CAFile, cert: plan.CertFile, key: plan.KeyFile}

// Define defines the flags. where says when they can be used.
func (f *Flags) Define(set *pflag.FlagSet, where string) {
	f.set, f.files, f.fromVariable = set, map[string]*string{caCert: new(string), cert: new(string), key: new(string)}, map[string]bool{}
	set.StringVar(f.files[caCert], caCert, "", where+"use TLS, and check the certificates of the members with this CA `FILE`")
	set.StringVar(f.files[cert], cert, "", where+"`FILE` with a client certificate")
	set.StringVar(f.files[key], key, "", where+"`FILE` with the key of the client certificate")
	set.StringVar(&f.ServerName, serverName, "", where+"check the certificates of the members for this `NAME`, not for their addresses")
	set.StringVar(&f.user, user, "", where+"log in as `NAME[:PASSWORD]`")
	set.StringVar(&f.password, password, "", where+"`PASSWORD` of the user, if --user has none. ETCDCTL_PASSWORD keeps it out of the list of processes")
	set.StringVarP(&f.discovery.domain, discoverySRV, "d", "", where+"look up the addresses of the members in the DNS SRV records of this `DOMAIN`")
	set.StringVar(&f.discovery.service, discoverySRVName, "", where+"`SUFFIX` of the service in these records")
	set.BoolVar(&f.discovery.insecure, insecureDiscovery, true, where+"accept addresses without TLS from these records; false also checks the certificates for the domain")
	for _, option := range without {
		option.Define(set)
	}
}

// Names are the flags that need a run on this machine.
func Names() []string {
	return append(slices.Sorted(maps.Keys(tlsFiles)), serverName, user, password, discoverySRV, discoverySRVName, insecureDiscovery, tlsDir, authDir, tokenFile)
}

// DefineToken defines the flag for a token, which etcd does not take.
func (f *Flags) DefineToken(set *pflag.FlagSet, where string) {
	set.StringVar(&f.tokenFile, tokenFile, "", where+"send the token in this `FILE`, to a store that takes tokens and no users")
}

// FirstGiven returns the first of some flags that is on the command line, or "".
func (f *Flags) FirstGiven(flags ...string) string {
	if i := slices.IndexFunc(flags, f.given); i >= 0 {
		return flags[i]
	}
	return ""
}

func (f *Flags) given(flag string) bool { return f.set != nil && f.set.Changed(flag) }

// FromEnvironment fills the flags that are not given from the variables of etcdctl. A folder outweighs them.
func (f *Flags) FromEnvironment() {
	if f.TLSDir == "" {
		for flag, value := range f.files {
			f.take(flag, value)
		}
	}
	if f.AuthDir == "" && f.tokenFile == "" {
		f.take(user, &f.user)
		f.take(password, &f.password)
	}
}

// take sets a flag that is not given from its variable.
func (f *Flags) take(flag string, value *string) {
	if text := os.Getenv(variableOf(flag)); text != "" && !f.given(flag) {
		*value, f.fromVariable[flag] = text, true
	}
}

// By is what gave the value of a flag: the flag itself, or its variable.
func (f *Flags) By(flag string) string {
	if f.fromVariable[flag] {
		return variableOf(flag)
	}
	return "--" + flag
}

// Refused returns the error of a flag of etcdctl that has no effect.
func (f *Flags) Refused() error { return refused.First(f.set) }

// Check returns what is wrong with the flags, after FromEnvironment. own: the members are those of the command, which
// have neither TLS nor users.
func (f *Flags) Check(own bool) error {
	if err := f.Refused(); err != nil {
		return err
	}
	if own {
		return f.CheckOwn()
	}
	return cmp.Or(f.checkAddresses(), f.checkTLS(), f.checkUser())
}

// CheckOwn refuses flags that are given for members that the command starts.
func (f *Flags) CheckOwn() error {
	if given := f.FirstGiven(Names()...); given != "" {
		return fmt.Errorf("--%s: members that the command starts have neither TLS nor users, and their addresses are known: remove the flag", given)
	}
	return nil
}

func (f *Flags) checkAddresses() error {
	depends := f.FirstGiven(discoverySRVName, insecureDiscovery)
	switch {
	case f.given(discoverySRV) && f.given(endpoints):
		return errors.New("--discovery-srv and --endpoints both give the addresses: remove one of them")
	case depends != "" && f.discovery.domain == "" && os.Getenv(variableOf(discoverySRV)) == "":
		return fmt.Errorf("--%s needs --discovery-srv: add it", depends)
	case f.given(endpoints) && len(f.Endpoints) == 0:
		return errors.New("--endpoints: wanted host:port,…, found nothing")
	}
	return nil
}

func (f *Flags) checkTLS() error {
	ca, certificate, its := *f.files[caCert], *f.files[cert], *f.files[key]
	given := f.FirstGiven(caCert, cert, key)
	switch {
	case f.given(tlsDir) && f.TLSDir == "":
		return errors.New("--tls-dir: wanted a folder with ca.crt, found an empty name")
	case f.TLSDir != "" && given != "":
		return fmt.Errorf("--tls-dir and --%s both give certificates: remove one of them", given)
	case (certificate == "") != (its == ""):
		return fmt.Errorf("%s and %s belong together: wanted both, found one", f.By(cert), f.By(key))
	case certificate != "" && ca == "":
		return fmt.Errorf("%s needs --cacert: the certificates of the members are checked, too", f.By(cert))
	case f.ServerName != "" && ca == "" && f.TLSDir == "":
		return errors.New("--tls-server-name is about certificates: add --cacert, or remove it")
	}
	return checkFolder("--tls-dir", f.TLSDir, plan.CAFile)
}

func (f *Flags) checkUser() error {
	given := f.FirstGiven(user, password, tokenFile)
	switch {
	case f.given(authDir) && f.AuthDir == "":
		return errors.New("--auth-dir: wanted a folder with the files username and password, found an empty name")
	case f.AuthDir != "" && given != "":
		return fmt.Errorf("--auth-dir and --%s both give credentials: remove one of them", given)
	case f.tokenFile != "" && given != tokenFile:
		return fmt.Errorf("--token-file and --%s both give credentials: remove one of them", given)
	case f.given(password) && f.user == "":
		return errors.New("--password needs --user: add the name of the user")
	case strings.Contains(f.user, ":") && f.given(user) && f.given(password):
		return errors.New("--user has a password, and --password gives another one: remove one of them")
	case f.user != "" && !strings.Contains(f.user, ":") && f.password == "":
		return fmt.Errorf("%s: wanted a password for %q, found none: set ETCDCTL_PASSWORD, or add --password", f.By(user), f.user)
	}
	if isFile(filepath.Join(f.AuthDir, plan.TokenFile)) {
		return checkFolder("--auth-dir", f.AuthDir, plan.TokenFile)
	}
	return checkFolder("--auth-dir", f.AuthDir, plan.UsernameFile, plan.PasswordFile)
}

func isFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// checkFolder returns an error if a flag names a folder without the files that a run needs.
func checkFolder(flag, folder string, files ...string) error {
	if folder == "" {
		return nil
	}
	switch info, err := os.Stat(folder); {
	case err != nil:
		return fmt.Errorf("%s: wanted a folder with %s: %w", flag, strings.Join(files, " and "), err)
	case !info.IsDir():
		return fmt.Errorf("%s: wanted a folder with %s, found the file %s", flag, strings.Join(files, " and "), folder)
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
			return fmt.Errorf("%s: wanted a folder with %s: %w", flag, strings.Join(files, " and "), err)
		}
	}
	return nil
}

// TLSBy is the flag or the variable that asks for TLS; empty if none does.
func (f *Flags) TLSBy() string {
	switch {
	case f.TLSDir != "":
		return "--tls-dir"
	case f.files != nil && *f.files[caCert] != "":
		return f.By(caCert)
	}
	return ""
}

// UserBy is the flag or the variable that gives a user or a token; empty if none does.
func (f *Flags) UserBy() string {
	switch {
	case f.AuthDir != "":
		return "--auth-dir"
	case f.tokenFile != "":
		return "--token-file"
	case f.user != "":
		return f.By(user)
	}
	return ""
}

// CheckStore refuses a user for a store that takes tokens, and the other way around.
func (f *Flags) CheckStore(d spec.Datastore) error {
	row, _ := cmp.Or(d, spec.DefaultDatastore).Store()
	tokens := slices.Contains(row.Auth, plan.TokenFile)
	switch {
	case f.AuthDir != "" || f.UserBy() == "" || len(row.Auth) == 0 || tokens == (f.tokenFile != ""):
		return nil
	case tokens:
		return fmt.Errorf("%s takes --token-file, not %s", row.Name, f.UserBy())
	}
	return fmt.Errorf("%s takes --user and --password, not --token-file", row.Name)
}

// TLS returns the certificates; nil without TLS.
func (f *Flags) TLS() plan.Given {
	switch {
	case f.TLSBy() == "":
		return nil
	case f.TLSDir != "":
		return inFolder("--tls-dir", f.TLSDir, plan.CAFile, plan.CertFile, plan.KeyFile)
	}
	given := plan.Given{}
	for flag, file := range tlsFiles {
		if path := *f.files[flag]; path != "" {
			given[file] = plan.Source{Name: f.name(flag, path), Path: path}
		}
	}
	return given
}

// name is how the user gave a value: --cacert FILE, or ETCDCTL_CACERT=FILE.
func (f *Flags) name(flag, value string) string {
	if f.fromVariable[flag] {
		return variableOf(flag) + "=" + value
	}
	return "--" + flag + " " + value
}

// User returns the user or the token; nil without one.
func (f *Flags) User() plan.Given {
	switch {
	case f.UserBy() == "":
		return nil
	case f.AuthDir != "":
		return inFolder("--auth-dir", f.AuthDir, plan.UsernameFile, plan.PasswordFile, plan.TokenFile)
	case f.tokenFile != "":
		return plan.Given{plan.TokenFile: {Name: "--token-file " + f.tokenFile, Path: f.tokenFile}}
	}
	name, word, found := strings.Cut(f.user, ":")
	by := "the password of " + f.By(user)
	if !found {
		word, by = f.password, f.By(password)
	}
	return plan.Given{plan.UsernameFile: {Name: "the name of " + f.By(user), Content: name}, plan.PasswordFile: {Name: by, Content: word}}
}

// inFolder returns those of the files that exist.
func inFolder(flag, folder string, files ...string) plan.Given {
	given := plan.Given{}
	for _, file := range files {
		path := filepath.Join(folder, file)
		if isFile(path) {
			given[file] = plan.Source{Name: flag + " " + path, Path: path}
		}
	}
	return given
}
