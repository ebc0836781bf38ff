package command

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// guarded is an etcd with TLS and users, and the files and words that give access.
type guarded struct{ endpoint, folder, password string }

func startGuarded(t *testing.T) guarded {
	t.Helper()
	authority := etcdtest.NewAuthority(t)
	cluster := etcdtest.Start(t, 1, authority)
	client, ctx := cluster.Client(t, "", ""), t.Context()
	_, roleErr := client.RoleAdd(ctx, "root")
	_, userErr := client.UserAdd(ctx, "root", "se:cret")
	_, grantErr := client.UserGrantRole(ctx, "root", "root")
	_, enableErr := client.AuthEnable(ctx)
	if err := errors.Join(roleErr, userErr, grantErr, enableErr); err != nil {
		t.Fatal(err)
	}
	return guarded{cluster.Endpoints[0], authority.SecretDir(t), "se:cret"}
}

func (g guarded) file(name string) string { return filepath.Join(g.folder, name) }

// flags are etcdctl's.
func (g guarded) flags() []string {
	return []string{"--endpoints", "https://" + g.endpoint, "--cacert", g.file("ca.crt"), "--cert", g.file("tls.crt"), "--key", g.file("tls.key"), "--user", "root:" + g.password}
}

// setVariables sets etcdctl's variables.
func (g guarded) setVariables(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"ENDPOINTS": g.endpoint, "CACERT": g.file("ca.crt"), "CERT": g.file("tls.crt"), "KEY": g.file("tls.key"), "USER": "root", "PASSWORD": g.password,
	} {
		t.Setenv("ETCDCTL_"+name, value)
	}
}

// etcdctl's flags and its variables give access for each command that loads an etcd from this machine.
func TestAccessAsWithEtcdctl(t *testing.T) {
	g := startGuarded(t)
	anywhere := strings.Replace(sweepable, `{endpoints: ["127.0.0.1:2379"]}`, "{service: {name: etcd}}", 1)
	commands := map[string]struct {
		stdin string
		args  []string
		// endless: a check takes a minute, so it is interrupted once it measures.
		endless bool
	}{
		"run":   {anywhere, []string{"run", "--local", "-f", "-"}, false},
		"bench": {"", []string{"bench", "put", "--local", "--total=20"}, false},
		"check": {"", []string{"check"}, true},
		"nodes": {"", []string{"check", "--kubernetes-nodes", "50"}, true},
	}
	try := func(t *testing.T, flags []string) {
		for name, tc := range commands {
			t.Run(name, func(t *testing.T) {
				c := call(tc.stdin, append(append(tc.args, "-o", "json"), flags...)...)
				if tc.endless {
					c.err.await(t, " p99 ")
					c.signals <- os.Interrupt
					c.wantStatus(t, exitUnknown)
				} else {
					c.wantStatus(t, exitDone)
				}
				run := &v1alpha1.EtcdBenchmark{}
				if err := json.Unmarshal([]byte(c.out.String()), run); err != nil {
					t.Fatal(err)
				}
				if s := run.Status.Summary; s == nil || s.MeasuredRequests == 0 || s.FailedRequests != 0 || run.Spec.Target.TLS == nil || run.Spec.Target.Auth == nil {
					t.Errorf("wanted requests with TLS and a user, found %+v to %+v", s, run.Spec.Target)
				}
			})
		}
	}
	t.Run("flags", func(t *testing.T) { try(t, g.flags()) })
	t.Run("variables", func(t *testing.T) {
		g.setVariables(t)
		try(t, nil)
	})
}

// A manifest's own addresses are where its load goes, whatever a variable says.
func TestVariablesDoNotMoveTheLoad(t *testing.T) {
	t.Setenv("ETCDCTL_ENDPOINTS", "127.0.0.1:1")
	endpoint := etcdtest.Start(t, 1, nil).Endpoints[0]
	c := call(strings.Replace(sweepable, "127.0.0.1:2379", endpoint, 1), "run", "--local", "-f", "-")
	c.wantStatus(t, exitDone)
}

// Members that the command starts have neither TLS nor users: variables for another etcd are of no use to them.
func TestMembersIgnoreVariables(t *testing.T) {
	guarded{"127.0.0.1:1", t.TempDir(), "x"}.setVariables(t)
	call("", "bench", "put", "--local", "--members", "1", "--total=20").wantStatus(t, exitDone)
}

func TestAccessIsRefusedBeforeTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ args, want string }{
		"not local":            {"--cacert=" + file, "--cacert needs --local"},
		"two CAs":              {"--local --tls-dir=x --cacert=" + file, "--tls-dir and --cacert both give certificates"},
		"two users":            {"--local --auth-dir=x --user=a:b", "--auth-dir and --user both give credentials"},
		"a user and a token":   {"--local --token-file=x --user=a:b", "--token-file and --user both give credentials"},
		"a token for etcd":     {"--local --token-file=x", "etcd takes --user and --password, not --token-file"},
		"a missing file":       {"--local --cacert=" + file + "-missing", "--cacert " + file + "-missing cannot be read: no such file"},
		"a switch":             {"--local --debug", "--debug: the client writes no log"},
		"an empty file":        {"--local --cacert=" + file, "--cacert " + file + " is empty"},
		"a folder as a file":   {"--local --cacert=" + filepath.Dir(file), "--cacert " + filepath.Dir(file) + " cannot be read: is a directory"},
		"not a time-out":       {"--local --command-timeout 3s", "--command-timeout: a request may take 10 s"},
		"DNS, not local":       {"--discovery-srv=example.org", "--discovery-srv needs --local"},
		"DNS and addresses":    {"--local --discovery-srv=a --endpoints=a:1", "both give the addresses"},
		"a name without TLS":   {"--local --tls-server-name=x", "add --cacert"},
		"a missing folder":     {"--local --tls-dir=" + file + "-missing", "--tls-dir: wanted a folder"},
		"half a certificate":   {"--local --cacert=" + file + " --cert=" + file, "--cert and --key belong together"},
		"nor in a cluster":     {"--insecure-skip-tls-verify", "the certificates of the members are always checked"},
		"not checked":          {"--local --insecure-skip-tls-verify", "the certificates of the members are always checked"},
		"TLS without TLS":      {"--local --endpoints=http://127.0.0.1:1 --cacert=" + file, "--cacert asks for TLS"},
		"no lines to write":    {"--local --interval=0s", "--interval: wanted a time above 0"},
		"of own members":       {"--local --members=1 --user=a:b", "neither TLS nor users"},
		"a user, no password":  {"--local --user=a", "wanted a password"},
		"a password, no user":  {"--local --password=a", "--password needs --user"},
		"a missing user's dir": {"--local --auth-dir=" + file, "--auth-dir: wanted a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			c := call(sweepable, append([]string{"run", "-f", "-"}, strings.Fields(tc.args)...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) || strings.Contains(c.err.String(), "Preparing") || strings.Contains(c.err.String(), "Secret") {
				t.Errorf("found %s, wanted %q in it, and no run", c.err, tc.want)
			}
		})
	}
}

// A member whose certificate has another name than its address is reached with that name, which the refusal tells.
func TestTheNameInTheCertificates(t *testing.T) {
	authority := etcdtest.NewAuthority(t, "etcd.example")
	g := guarded{endpoint: etcdtest.Start(t, 1, authority).Endpoints[0], folder: authority.SecretDir(t)}
	flags := []string{"--endpoints", g.endpoint, "--cacert", g.file("ca.crt"), "--cert", g.file("tls.crt"), "--key", g.file("tls.key")}
	for name, tc := range map[string]struct {
		stdin string
		args  []string
	}{
		"run":   {sweepable, []string{"run", "--local", "-f", "-"}},
		"bench": {"", []string{"bench", "put", "--local", "--total=20"}},
		"clean": {"", []string{"clean"}},
	} {
		t.Run(name, func(t *testing.T) {
			refused := call(tc.stdin, append(tc.args, flags...)...)
			refused.wantStatus(t, exitFailed)
			if got := refused.out.String() + refused.err.String(); !strings.Contains(strings.Join(strings.Fields(got), " "), "add --tls-server-name") || !strings.Contains(got, "etcd.example") {
				t.Errorf("the refusal does not tell the name or the flag:\n%s", got)
			}
			call(tc.stdin, append(append(tc.args, flags...), "--tls-server-name", "etcd.example")...).wantStatus(t, exitDone)
		})
	}
}
