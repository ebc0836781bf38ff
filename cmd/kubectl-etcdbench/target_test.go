package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// plain is a manifest with an address, and with certificates if tls is not empty.
func plain(endpoint, tls string) string {
	return strings.Replace(puts, "target: {service: {name: etcd}}", `target: {endpoints: ["`+endpoint+`"]`+tls+"}", 1)
}

func TestTargetFlagsAreRefused(t *testing.T) {
	folder := etcdtest.NewAuthority(t).SecretDir(t)
	const secret = ", tls: {secretName: s}"
	cases := map[string]struct {
		stdin string
		args  string
		// wantErr are parts of standard error.
		wantErr []string
	}{
		"no endpoints":             {puts, "--endpoints=", []string{"--endpoints", "host:port"}},
		"an empty endpoint":        {puts, "--endpoints=127.0.0.1:1,", []string{"--endpoints", "host:port"}},
		"no port":                  {puts, "--endpoints=etcd", []string{"--endpoints", "etcd:2379"}},
		"a port too high":          {puts, "--endpoints=127.0.0.1:99999", []string{"--endpoints", "127.0.0.1:99999", "1 to 65535"}},
		"an endpoint twice":        {puts, "--endpoints=127.0.0.1:1,127.0.0.1:1", []string{"--endpoints", "Duplicate", "127.0.0.1:1"}},
		"another scheme":           {puts, "--endpoints=tcp://127.0.0.1:1", []string{"--endpoints", "tcp://127.0.0.1:1", "http:// or https://"}},
		"a path":                   {puts, "--endpoints=http://127.0.0.1:1/x", []string{"--endpoints", "127.0.0.1:1/x", "write http://127.0.0.1:1."}},
		"https without a CA":       {puts, "--endpoints=https://127.0.0.1:1", []string{"--endpoints", "--tls-dir"}},
		"http, with certificates":  {puts, "--endpoints=http://127.0.0.1:1 --tls-dir=FOLDER", []string{"--endpoints", "drop --tls-dir"}},
		"http, secret in manifest": {plain("a:1", secret), "--endpoints=http://127.0.0.1:1 --tls-dir=FOLDER", []string{"--endpoints", "https://"}},
		"http in manifest, folder": {plain("http://a:1", ""), "--tls-dir=FOLDER", []string{"spec.target.endpoints", "drop --tls-dir"}},
		"no members":               {puts, "--members=0", []string{"--members", "1 to 9"}},
		"no folder":                {puts, "--endpoints=127.0.0.1:1 --tls-dir=", []string{"--tls-dir", "folder"}},
		"no folder of the user":    {puts, "--endpoints=127.0.0.1:1 --auth-dir=", []string{"--auth-dir", "folder"}},
		"a folder that is missing": {puts, "--endpoints=127.0.0.1:1 --tls-dir=missing", []string{"--tls-dir", "missing"}},
		"a file for a folder":      {puts, "--endpoints=127.0.0.1:1 --auth-dir=main.go", []string{"--auth-dir", "main.go"}},
		"two targets":              {puts, "--endpoints=127.0.0.1:1 --members=1", []string{"give one of them"}},
		"folder, plain members":    {puts, "--tls-dir=x --members=1", []string{"--tls-dir"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stderr strings.Builder
			cmd, _ := process(t, tc.stdin, append([]string{"run", "--local", "-f", "-"}, strings.Fields(strings.ReplaceAll(tc.args, "FOLDER", folder))...)...)
			cmd.Stderr = &stderr
			if got := exitStatus(t, cmd.Run()); got != 2 {
				t.Errorf("wanted exit status 2, got %d", got)
			}
			for _, want := range tc.wantErr {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("wanted %q in standard error:\n%s", want, stderr.String())
				}
			}
		})
	}
}

// With --tls-dir a run uses TLS, with and without spec.target.tls, and the printed run shows it.
func TestTLSFolder(t *testing.T) {
	authority := etcdtest.NewAuthority(t)
	bare := etcdtest.Start(t, 1, authority).Endpoints[0]
	folder := authority.SecretDir(t)
	cases := map[string]struct {
		stdin string
		args  []string
		want  int
	}{
		"no secret in the manifest":      {puts, []string{"--endpoints", bare, "--tls-dir", folder}, 0},
		"with the scheme":                {puts, []string{"--endpoints", "https://" + bare, "--tls-dir", folder}, 0},
		"scheme and no secret, manifest": {plain("https://"+bare, ""), []string{"--tls-dir", folder}, 0},
		"a secret in the manifest":       {plain(bare, ", tls: {secretName: s}"), []string{"--tls-dir", folder}, 0},
		"without the folder":             {puts, []string{"--endpoints", bare}, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd, _ := process(t, tc.stdin, append([]string{"run", "--local", "-f", "-", "-o", "json"}, tc.args...)...)
			out, err := cmd.Output()
			if got := exitStatus(t, err); got != tc.want {
				t.Fatalf("wanted exit status %d, got %d:\n%s", tc.want, got, out)
			}
			run := &v1alpha1.EtcdBenchmark{}
			if err := json.Unmarshal(out, run); err != nil {
				t.Fatal(err)
			}
			target := run.Spec.Target
			if target.Service != nil || len(target.Endpoints) != 1 || !strings.HasSuffix(target.Endpoints[0], bare) || (target.TLS != nil) != (tc.want == 0) {
				t.Errorf("the printed run has another target than the load: %+v", target)
			}
		})
	}
}

func TestUserFolder(t *testing.T) {
	cmd, _ := process(t, puts, "run", "--local", "-f", "-", "-o", "json", "--endpoints", "127.0.0.1:1", "--auth-dir", t.TempDir())
	out, err := cmd.CombinedOutput()
	if got := exitStatus(t, err); got != 2 || !strings.Contains(string(out), "--auth-dir: wanted a folder with username") {
		t.Errorf("wanted the empty folder to be refused, got %d:\n%s", got, out)
	}
}
