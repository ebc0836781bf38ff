package kinetest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdbench/etcd-benchmark-operator/internal/processtest"
)

// startTimeout bounds how long a server may take to serve.
const startTimeout = 30 * time.Second

// Server is one process.
type Server struct {
	// Endpoint is where clients connect, as host:port.
	Endpoint string

	cmd   *exec.Cmd
	ended <-chan struct{}
	log   *lockedBuffer
	// probes are the requests of Client.
	probes atomic.Int64
}

// Start starts a server with these flags, until the test ends. It does not wait until the server serves: Client does.
func Start(t *testing.T, flags ...string) *Server {
	t.Helper()
	// The host is an address of the loopback interface that is this server's alone.
	host := fmt.Sprintf("127.%d.%d.%d", rand.N(250)+2, rand.N(250)+2, rand.N(250)+2)
	s := &Server{Endpoint: net.JoinHostPort(host, "2379"), log: &lockedBuffer{}}
	s.cmd = exec.Command(filepath.Join(Tools(t), "kine"), append([]string{"--listen-address", s.Endpoint, "--metrics-bind-address", "0"}, flags...)...)
	s.cmd.Dir = t.TempDir()
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	var err error
	if s.ended, err = processtest.Start(s.cmd); err != nil {
		t.Fatalf("starting kine (run `make tools-kine`): %v", err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.ended
		if t.Failed() {
			t.Logf("kine at %s said:\n%.20000s", s.Endpoint, s.log.bytes())
		}
	})
	return s
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

// Client returns a client of the server when it serves, until the test ends.
func (s *Server) Client(t *testing.T) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + s.Endpoint}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for ctx.Err() == nil {
		if _, err = client.Get(ctx, "-"); err == nil {
			s.probes.Add(1)
			return client
		}
	}
	t.Fatalf("wanted kine at %s to serve within %v, found: %v", s.Endpoint, startTimeout, err)
	return nil
}

// servedLine is a line of kine's log, with the flag --debug, about a request that it has served.
var servedLine = regexp.MustCompile(`UNARY STATS client=\S+, method=/etcdserverpb\.\w+/(\w+)`)

// Served returns how many requests of a kind the server has served, except those on streams and those of Client. It waits
// until the log has as many as wanted. The server needs the flag --debug.
func (s *Server) Served(t *testing.T, kind string, wanted uint64) (served uint64) {
	t.Helper()
	if kind == "Range" {
		wanted += uint64(s.probes.Load())
		defer func() { served -= uint64(s.probes.Load()) }()
	}
	for until := time.Now().Add(startTimeout); ; <-time.After(10 * time.Millisecond) {
		served = 0
		for _, line := range servedLine.FindAllSubmatch(s.log.bytes(), -1) {
			if string(line[1]) == kind {
				served++
			}
		}
		if served >= wanted || time.Now().After(until) {
			return served
		}
	}
}

// Tools returns the folder of the tools.
func Tools(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	return filepath.Join(dir, "bin", "tools")
}

// lockedBuffer is read while a process writes to it.
type lockedBuffer struct {
	mutex sync.Mutex
	all   bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.all.Write(data)
}

func (b *lockedBuffer) bytes() []byte {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return bytes.Clone(b.all.Bytes())
}
