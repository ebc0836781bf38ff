package supervisor

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// limit is far more than any step here takes.
const limit = 90 * time.Second

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// begin starts members that end with the test.
func begin(t *testing.T, c Config) *Cluster {
	t.Helper()
	cluster, err := tryBegin(t, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close() })
	return cluster
}

func tryBegin(t *testing.T, c Config) (*Cluster, error) {
	t.Helper()
	if c.DataDir == "" {
		c.DataDir = etcdtest.DataDir(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return Start(ctx, c)
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s, and not yet: %s", limit, what)
		}
		time.Sleep(healthInterval)
	}
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("found %v, %v in the folder for data, wanted nothing", left, err)
	}
}

// script is a program that runs this text in a shell.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// foreign is an etcd that is not this program.
func foreign() string {
	tools := cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join("..", "..", "..", "..", "bin", "tools"))
	path, _ := filepath.Abs(filepath.Join(tools, "etcd"))
	return path
}

// A foreign etcd is one cluster, too. Its settings reach it, and nothing of it is left, although a shell has started it.
func TestAForeignEtcd(t *testing.T) {
	dir := etcdtest.DataDir(t)
	c := begin(t, Config{Members: 3, DataDir: dir, Program: script(t, foreign()+` "$@"`), Settings: map[string]string{"quota-backend-bytes": "123456789"}})
	answer, err := http.Get("http://" + c.Endpoints[2] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var text strings.Builder
	if err := answer.Write(&text); err != nil || !strings.Contains(text.String(), "etcd_server_quota_backend_bytes 1.23456789e+08") {
		t.Errorf("the quota of the settings is not that of the member: %v\n%s", err, text.String())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	requireEmpty(t, dir)
	for _, e := range c.Endpoints {
		if _, err := http.Get("http://" + e + "/health"); err == nil {
			t.Errorf("%s still serves", e)
		}
	}
}

// A program that cannot serve ends the start with its own words.
func TestMembersThatDoNotStart(t *testing.T) {
	for name, tc := range map[string]struct {
		config Config
		want   []string
	}{
		"it does not exist":         {Config{Program: "/no/such/etcd"}, []string{"/no/such/etcd", "no such file"}},
		"it is a folder":            {Config{Program: os.TempDir()}, []string{"permission denied"}},
		"it ends at once":           {Config{Program: script(t, "echo the disk is on fire >&2; exit 3")}, []string{"member-", "exit status 3", "the disk is on fire"}},
		"it ends without a word":    {Config{Program: script(t, "exit 0")}, []string{"exit status 0", "its log is empty"}},
		"it does not serve":         {Config{Program: script(t, "echo it waits; exec sleep 3600"), StartLimit: time.Second}, []string{"member-0 ran, but did not serve on 127.0.0.1:", " within 1s; its log ends with: it waits"}},
		"it waits without a word":   {Config{Program: script(t, "exec sleep 3600"), StartLimit: time.Second}, []string{"did not serve", "its log is empty"}},
		"etcd refuses its flags":    {Config{Settings: map[string]string{"heartbeat-interval": "0"}}, []string{"heartbeat-interval"}},
		"etcd knows no such flag":   {Config{Settings: map[string]string{"no-such-flag": "1"}}, []string{"no-such-flag"}},
		"its folder does not exist": {Config{DataDir: "/no/such/folder"}, []string{"/no/such/folder", "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.config.Members = 1
			if tc.config.DataDir == "" {
				tc.config.DataDir = t.TempDir()
				defer requireEmpty(t, tc.config.DataDir)
			}
			_, err := tryBegin(t, tc.config)
			if err == nil {
				t.Fatal("it started")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("wanted %q in: %v", want, err)
				}
			}
			if len(err.Error()) > 1000 {
				t.Errorf("%d bytes: %v", len(err.Error()), err)
			}
		})
	}
}

// etcd takes variables for flags. Those of the user's shell are meant for another etcd.
func TestVariablesDoNotReachMembers(t *testing.T) {
	t.Setenv("ETCD_AUTO_COMPACTION_MODE", "nonsense")
	begin(t, Config{Members: 1})
	begin(t, Config{Members: 1, Program: foreign()})
}

// If a port is taken, other ports are tried.
func TestATakenPort(t *testing.T) {
	began := filepath.Join(t.TempDir(), "began")
	begin(t, Config{Members: 1, Program: script(t, `
if [ ! -e `+began+` ]; then
  touch `+began+`
  echo '{"level":"fatal","msg":"discovery failed","error":"listen tcp 127.0.0.1:1: bind: address already in use"}'
  exit 1
fi
exec `+foreign()+` "$@"`)})
}

// A start that is left ends the members.
func TestAStartThatIsLeft(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	dir := t.TempDir()
	ended := make(chan error)
	go func() {
		_, err := Start(ctx, Config{Members: 1, DataDir: dir, Program: script(t, "touch "+dir+"/started; exec cat /dev/zero >/dev/null")})
		ended <- err
	}()
	started := filepath.Join(dir, "started")
	eventually(t, "the program started", func() bool { _, err := os.Stat(started); return err == nil })
	leave()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(started); err != nil {
		t.Error(err)
	}
	requireEmpty(t, dir)
}

func TestTheLastWords(t *testing.T) {
	for name, tc := range map[string]struct{ log, want string }{
		"nothing":         {"", ""},
		"the last lines":  {"a\nb\n\nc\nd", "b; c; d"},
		"etcd's own":      {`{"level":"info","msg":"a"}` + "\n" + `{"level":"fatal","msg":"discovery failed","error":"no disk","stacktrace":"x"}` + "\nexit\n", "discovery failed: no disk"},
		"etcd's panic":    {`{"level":"panic","msg":"failed to save","error":"write x.wal: no space left on device"}` + "\npanic: failed to save\n\ngoroutine 1 [running]:\n", "failed to save: write x.wal: no space left on device"},
		"an error":        {`{"level":"error","msg":"failed to save","error":"no space left on device"}` + "\n" + `{"level":"info","msg":"a"}` + "\n", "failed to save: no space left on device"},
		"both":            {`{"level":"error","msg":"failed to save","error":"no space left on device"}` + "\npanic: nil\n\ngoroutine 1 [running]:\n", "failed to save: no space left on device; panic: nil"},
		"Consul's own":    {"2026-11-27T23:08:10Z [ERROR] agent: no disk\n2026-11-27T23:08:11Z [INFO]  agent: the end\n", "2026-11-27T23:08:10Z [ERROR] agent: no disk"},
		"ZooKeeper's own": {"[main] ERROR a.Main - Invalid config\na.ConfigException: Error\n\tat a.b\nCaused by: a.Wrong: x\nCaused by: a.Missing: no disk\n\t... 2 more\n[main] ERROR a.Exit - Exiting JVM with code 2\n", "a.Missing: no disk"},
		"a panic":         {"a\npanic: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1\n", "panic: index out of range"},
		"the end only":    {"panic: x\n" + strings.Repeat("long line\n", keptLog/10), "long line; long line; long line"},
	} {
		log := &tail{}
		for _, part := range strings.SplitAfter(tc.log, "\n") {
			if _, err := log.Write([]byte(part)); err != nil {
				t.Error(err)
			}
		}
		if got := log.words(); got != tc.want {
			t.Errorf("%s: got %q, wanted %q", name, got, tc.want)
		}
	}
}
