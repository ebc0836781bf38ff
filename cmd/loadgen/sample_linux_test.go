package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/sampler"
)

// A sampler finds the process etcd, and serves until it is stopped.
func TestSample(t *testing.T) {
	etcd := filepath.Join(t.TempDir(), "etcd")
	if err := os.Symlink("/bin/sleep", etcd); err != nil {
		t.Fatal(err)
	}
	process := exec.Command(etcd, "60")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	}()
	store, _ := ephemeral.Of(spec.DefaultDatastore)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	start := time.Now()
	go func() { ended <- sample(ctx, store, listener) }()
	for {
		response, err := http.Get("http://" + listener.Addr().String() + sampler.Path(start))
		if err != nil {
			t.Fatal(err)
		}
		var a sampler.Answer
		err = json.NewDecoder(response.Body).Decode(&a)
		_ = response.Body.Close()
		if err != nil || time.Since(start) > 30*time.Second {
			t.Fatalf("got %+v (%v)", a, err)
		}
		if a.Gauges[members.GaugeMemoryHighest] > 0 && len(a.Counters) == 5 {
			break
		}
	}
	stop()
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d, wanted %d", code, exitDone)
	}
}
