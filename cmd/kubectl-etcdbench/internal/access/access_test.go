package access

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// flagsOfEtcdctl are the global flags of etcdctl, from its sources.
func flagsOfEtcdctl(t *testing.T) (names []string) {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "go.etcd.io/etcd/etcdctl/v3")
	download.Dir = filepath.Join("..", "..", "..", "..", "hack", "tools", "etcd")
	download.Env = append(os.Environ(), "GOWORK=off")
	out, err := download.Output()
	if err != nil {
		t.Fatalf("getting the sources of etcdctl: %v: %s", err, out)
	}
	var source struct{ Dir string }
	if err := json.Unmarshal(out, &source); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(source.Dir, "ctlv3", "ctl.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`PersistentFlags\(\)\.\w+\(&globalFlags[^"]*"([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, match[1])
	}
	return names
}

// Each flag of etcdctl is defined. Each variable fills its flag, or the user is told that it has no effect.
func TestEachFlagAndVariableOfEtcdctl(t *testing.T) {
	names := flagsOfEtcdctl(t)
	if len(names) < 20 {
		t.Fatalf("found only the flags %v of etcdctl", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			set := flagsOf(t).set.Lookup(name)
			if set == nil {
				t.Fatal("no flag")
			}
			if refusal := flagsOf(t, "--"+name+"=1").Refused(); (refusal != nil) != set.Hidden {
				t.Errorf("found the refusal %v of a flag that is hidden: %v", refusal, set.Hidden)
			}
			t.Setenv(variableOf(name), "true")
			if name == insecureDiscovery || name == discoverySRVName {
				t.Skip("has an effect with a domain: see the test of addresses from DNS")
			}
			before, after := flagsOf(t), flagsOf(t)
			after.FromEnvironment()
			_, _ = after.Locate(true)
			if has := !cmp.Equal(before.values(), after.values()); has == (len(Ignored()) > 0 || name == "insecure-transport") {
				t.Errorf("has an effect: %v, and the user is told %q", has, Ignored())
			}
		})
	}
}

// values are what variables can change.
func (f *Flags) values() []string {
	return append([]string{*f.files[caCert], *f.files[cert], *f.files[key], f.user, f.password, f.discovery.domain}, f.Endpoints...)
}

func TestHarmlessValuesAreAccepted(t *testing.T) {
	t.Setenv("ETCDCTL_INSECURE_SKIP_TLS_VERIFY", "false")
	t.Setenv("ETCDCTL_INSECURE_TRANSPORT", "true")
	if told := Ignored(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
	if err := flagsOf(t, "--insecure-skip-tls-verify=false", "--insecure-transport").Check(false); err != nil {
		t.Error(err)
	}
	t.Setenv("ETCDCTL_INSECURE_TRANSPORT", "false")
	if told := Ignored(); len(told) != 1 || !strings.HasPrefix(told[0], "ETCDCTL_INSECURE_TRANSPORT has no effect: ") {
		t.Errorf("told %q", told)
	}
}

// Each credential has the name of what gave it: the flag or the variable.
func TestTheNamesOfCredentials(t *testing.T) {
	folder := t.TempDir()
	for _, file := range []string{plan.CAFile, plan.CertFile, plan.UsernameFile, plan.PasswordFile} {
		if err := os.WriteFile(filepath.Join(folder, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tokens := t.TempDir()
	token := filepath.Join(tokens, plan.TokenFile)
	if err := os.WriteFile(token, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(flag, file string) plan.Source {
		path := filepath.Join(folder, file)
		return plan.Source{Name: flag + " " + path, Path: path}
	}
	for name, tc := range map[string]struct {
		args      []string
		variables map[string]string
		tls, user plan.Given
	}{
		"flags": {args: []string{"--cacert", "ca.pem", "--cert", "c.pem", "--key", "k.pem", "--user", "root:pa:ss"},
			tls:  plan.Given{plan.CAFile: {Name: "--cacert ca.pem", Path: "ca.pem"}, plan.CertFile: {Name: "--cert c.pem", Path: "c.pem"}, plan.KeyFile: {Name: "--key k.pem", Path: "k.pem"}},
			user: plan.Given{plan.UsernameFile: {Name: "the name of --user", Content: "root"}, plan.PasswordFile: {Name: "the password of --user", Content: "pa:ss"}}},
		"variables": {variables: map[string]string{"ETCDCTL_CACERT": "ca.pem", "ETCDCTL_USER": "root", "ETCDCTL_PASSWORD": "x"},
			tls:  plan.Given{plan.CAFile: {Name: "ETCDCTL_CACERT=ca.pem", Path: "ca.pem"}},
			user: plan.Given{plan.UsernameFile: {Name: "the name of ETCDCTL_USER", Content: "root"}, plan.PasswordFile: {Name: "ETCDCTL_PASSWORD", Content: "x"}}},
		"a flag outweighs": {args: []string{"--cacert", "mine.pem"}, variables: map[string]string{"ETCDCTL_CACERT": "ca.pem"},
			tls: plan.Given{plan.CAFile: {Name: "--cacert mine.pem", Path: "mine.pem"}}},
		"folders outweigh": {args: []string{"--tls-dir", folder, "--auth-dir", folder}, variables: map[string]string{"ETCDCTL_CACERT": "ca.pem", "ETCDCTL_USER": "root:x"},
			tls:  plan.Given{plan.CAFile: in("--tls-dir", plan.CAFile), plan.CertFile: in("--tls-dir", plan.CertFile)},
			user: plan.Given{plan.UsernameFile: in("--auth-dir", plan.UsernameFile), plan.PasswordFile: in("--auth-dir", plan.PasswordFile)}},
		"a token": {args: []string{"--token-file", "t"}, variables: map[string]string{"ETCDCTL_USER": "root:x"},
			user: plan.Given{plan.TokenFile: {Name: "--token-file t", Path: "t"}}},
		"a folder with a token": {args: []string{"--auth-dir", tokens}, user: plan.Given{plan.TokenFile: {Name: "--auth-dir " + token, Path: token}}},
		"nothing":               {},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range tc.variables {
				t.Setenv(variable, value)
			}
			f := flagsOf(t, tc.args...)
			f.FromEnvironment()
			if err := f.Check(false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.tls, f.TLS()) + cmp.Diff(tc.user, f.User()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
