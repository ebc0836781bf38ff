//go:build trials

package trials

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// put is the call of the load.
const put = "/etcdserverpb.KV/Put"

// target is an etcd behind a proxy that makes each put longer.
type target struct {
	address string

	mutex sync.Mutex
	// slots are how many puts the proxy serves at a time; nil is any number.
	slots chan struct{}
	hold  time.Duration
	// held is how long the proxy has held puts, and puts how many.
	held time.Duration
	puts int64
}

func startEtcd(t *testing.T) string {
	t.Helper()
	return etcdtest.Start(t, 1, nil, func(*embed.Config) {}).Endpoints[0]
}

// newTarget starts a proxy in front of an etcd. With slots, it serves that many puts at a time, each for at least hold.
func newTarget(t *testing.T, etcd string, slots int, hold time.Duration) *target {
	t.Helper()
	p := &target{hold: hold}
	if slots > 0 {
		p.slots = make(chan struct{}, slots)
	}
	p.address = etcdtest.StartProxy(t, etcd, func(ctx context.Context, method string, _ []byte, forward func() ([]byte, error)) ([]byte, error) {
		if method != put {
			return forward()
		}
		if p.slots != nil {
			select {
			case p.slots <- struct{}{}:
				defer func() { <-p.slots }()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		began := time.Now()
		p.wait()
		response, err := forward()
		p.add(time.Since(began))
		return response, err
	})
	return p
}

// wait waits as long as hold. A timer may be a millisecond late, so the last two milliseconds are spent yielding.
func (p *target) wait() {
	p.mutex.Lock()
	end := time.Now().Add(p.hold)
	p.mutex.Unlock()
	if early := time.Until(end) - 2*time.Millisecond; early > 0 {
		<-time.After(early)
	}
	for time.Now().Before(end) {
		runtime.Gosched()
	}
}

func (p *target) add(held time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.held, p.puts = p.held+held, p.puts+1
}

// mean is how long a put took in the proxy and behind it, since the last call.
func (p *target) mean() time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	mean := p.held / time.Duration(max(p.puts, 1))
	p.held, p.puts = 0, 0
	return mean
}

func (p *target) setHold(hold time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.hold = hold
}

// runSuite runs a suite by the plugin, as a user does, and calls seen with each line of its progress.
func runSuite(t *testing.T, manifest string, seen func(string)) *v1alpha1.EtcdBenchmarkSuite {
	t.Helper()
	file := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "bin", "kubectl-etcdbench"), "run", "--local", "-f", file, "-o", "json")
	lines := &lines{seen: seen}
	cmd.Stderr = lines
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s := &v1alpha1.EtcdBenchmarkSuite{}
	if err := json.Unmarshal(out, s); err != nil {
		t.Fatalf("%v in %q\n%s", err, out, lines.all)
	}
	return s
}

// lines calls seen with each line that is written.
type lines struct {
	seen func(string)
	all  string
	rest string
}

func (l *lines) Write(p []byte) (int, error) {
	l.all += string(p)
	l.rest += string(p)
	for {
		line, rest, found := strings.Cut(l.rest, "\n")
		if !found {
			return len(p), nil
		}
		l.rest = rest
		if l.seen != nil {
			l.seen(line)
		}
	}
}
