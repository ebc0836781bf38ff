package consultest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/faulttest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/processtest"
)

const (
	httpPort = "8500"
	// startTimeout bounds how long a cluster may take to serve.
	startTimeout = time.Minute
	// Manager is the token that may do everything, with the setting ACLs.
	Manager = "11111111-1111-1111-1111-111111111111"
)

// ACLs makes a server require tokens.
var ACLs = fmt.Sprintf(`{"acl": {"enabled": true, "default_policy": "deny", "tokens": {"master": %q, "agent": %[1]q}}}`, Manager)

// Server is one process.
type Server struct {
	// Endpoint is where clients connect, as host:port. The host is an address of the loopback interface that is this server's
	// alone, so that its ports can be the usual ones.
	Endpoint string
	host     string
	cmd      *exec.Cmd
	ended    <-chan struct{}
	log      *bytes.Buffer
}

// SmallDisk is a setting with which each server writes to a disk of 64 MB.
const SmallDisk = `{"data_dir": "small/data"}`

// Start starts a cluster of this many servers, until the test ends, and waits until it has a leader. Settings are JSON.
func Start(t *testing.T, servers int, settings ...string) []*Server {
	t.Helper()
	a, b := rand.N(250)+2, rand.N(250)+2
	var all []*Server
	for i := range servers {
		host := fmt.Sprintf("127.%d.%d.%d", a, b, i+2)
		all = append(all, &Server{host: host, Endpoint: net.JoinHostPort(host, httpPort), log: &bytes.Buffer{}})
	}
	for i, s := range all {
		s.start(t, i, all, settings)
	}
	for _, s := range all {
		s.awaitLeader(t)
	}
	return all
}

func (s *Server) start(t *testing.T, number int, all []*Server, settings []string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"agent", "-server", "-bootstrap-expect", fmt.Sprint(len(all)), "-node", fmt.Sprintf("server-%d", number), "-bind", s.host, "-client", s.host,
		"-config-dir", dir, "-disable-host-node-id", "-log-level", "warn", "-serf-wan-port", "-1", "-dns-port", "-1", "-disable-keyring-file"}
	for _, other := range all {
		if other != s {
			args = append(args, "-retry-join", other.host)
		}
	}
	// Of two files with the same setting, the last one counts.
	settings = append([]string{`{"data_dir": "data", "telemetry": {"prometheus_retention_time": "1h", "disable_hostname": true},
		"performance": {"raft_multiplier": 1}, "leave_on_terminate": false, "disable_update_check": true}`}, settings...)
	for i, text := range settings {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args = append([]string{program(t)}, args...)
	if slices.Contains(settings, SmallDisk) {
		args = faulttest.OnSmallDisk("small", args)
	}
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Dir = dir
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	var err error
	if s.ended, err = processtest.Start(s.cmd); err != nil {
		t.Fatalf("starting Consul (run `make tools-consul`): %v", err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the Consul at %s said:\n%.20000s", s.host, s.log.Bytes())
		}
	})
}

// program is the path of Consul.
func program(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	return filepath.Join(dir, "bin", "tools", "consul")
}

// awaitLeader waits until a read is answered with a majority.
func (s *Server) awaitLeader(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		status, body, err := s.ask(ctx, http.MethodGet, "/v1/kv/-?consistent", "", Manager)
		if err == nil && (status == http.StatusNotFound || status == http.StatusForbidden) && !strings.Contains(body, "ACL not found") {
			return
		}
		select {
		case <-look.C:
		case <-s.ended:
			t.Fatalf("the Consul at %s has ended", s.host)
		case <-ctx.Done():
			t.Fatalf("wanted the Consul at %s to serve within %v, found %d, %s, %v", s.host, startTimeout, status, body, err)
		}
	}
}

// Kill ends the server as a crash would.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// Pause stops the server until the function that it returns is called.
func (s *Server) Pause(t *testing.T) (resume func()) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume = sync.OnceFunc(func() { _ = s.cmd.Process.Signal(syscall.SIGCONT) })
	t.Cleanup(resume)
	return resume
}

func (s *Server) ask(ctx context.Context, method, path, body, token string) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.Endpoint+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("X-Consul-Token", token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

// Ask sends a request that must succeed, and returns the answer; empty if the key is missing.
func (s *Server) Ask(t *testing.T, method, path, body string) string {
	t.Helper()
	status, answer, err := s.ask(t.Context(), method, path, body, Manager)
	if err != nil || status != http.StatusOK && status != http.StatusNotFound {
		t.Fatalf("%s %s: %d, %s, %v", method, path, status, answer, err)
	}
	return answer
}

// Refuse sends a request without a key and with a body that is no JSON, which the server counts and which changes nothing.
func (s *Server) Refuse(t *testing.T, method, path string) {
	t.Helper()
	if _, _, err := s.ask(t.Context(), method, path, "no JSON", Manager); err != nil {
		t.Fatal(err)
	}
}

// Keys returns the names of all keys under a prefix.
func (s *Server) Keys(t *testing.T, prefix string) (keys []string) {
	t.Helper()
	answer := s.Ask(t, http.MethodGet, "/v1/kv/"+prefix+"?keys&consistent", "")
	if answer == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(answer), &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}

// Accessor returns the ID by which a token can be deleted.
func (s *Server) Accessor(t *testing.T, token string) string {
	t.Helper()
	var found struct{ AccessorID string }
	_, answer, err := s.ask(t.Context(), http.MethodGet, "/v1/acl/token/self", "", token)
	if err == nil {
		err = json.Unmarshal([]byte(answer), &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found.AccessorID
}

// Token returns a token with these rules.
func (s *Server) Token(t *testing.T, rules string) string {
	t.Helper()
	name := fmt.Sprintf("p%d", rand.Uint64())
	quoted, err := json.Marshal(rules)
	if err != nil {
		t.Fatal(err)
	}
	s.Ask(t, http.MethodPut, "/v1/acl/policy", fmt.Sprintf(`{"Name": %q, "Rules": %s}`, name, quoted))
	var made struct{ SecretID string }
	if err := json.Unmarshal([]byte(s.Ask(t, http.MethodPut, "/v1/acl/token", fmt.Sprintf(`{"Policies": [{"Name": %q}]}`, name))), &made); err != nil {
		t.Fatal(err)
	}
	return made.SecretID
}
