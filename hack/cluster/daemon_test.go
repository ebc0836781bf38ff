package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADyingDaemonFailsWithItsLog(t *testing.T) {
	s, ctx := newTestSupervisor(t)
	d := shellDaemon("echo the disk is on fire >&2; exit 3")
	d.probe = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	err := s.launch(ctx, d)
	if err == nil {
		t.Fatal("a daemon that ended at once counts as ready")
	}
	for _, want := range []string{d.name, "exit status 3", "the disk is on fire"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one that contains %q", err, want)
		}
	}
}

func TestALaunchedDaemonIsRecordedAndMarked(t *testing.T) {
	s, ctx := newTestSupervisor(t)
	d := shellDaemon("exec sleep 1000")
	// When the shell executes sleep, there is a moment when the process already has its new name but no readable
	// environment.
	d.probe = func(context.Context) error {
		for _, p := range marked(s.layout.checkout) {
			comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.PID))
			if err == nil && string(comm) == "sleep\n" && len(marked(s.layout.checkout)) == 1 {
				return nil
			}
		}
		return errors.New("the shell has not executed sleep yet")
	}
	if err := s.launch(ctx, d); err != nil {
		t.Fatal(err)
	}
	read, err := readJournal(s.journal.dir)
	if err != nil {
		t.Fatal(err)
	}
	recorded, ok := read.process(d.name)
	if !ok || !recorded.isAlive() {
		t.Fatalf("recorded %+v, %v, want a running process", recorded, ok)
	}
	if found := marked(s.layout.checkout); len(found) != 1 || found[0].PID != recorded.PID {
		t.Errorf("marked processes = %+v, want pid %d", found, recorded.PID)
	}
}

func TestProbeWantsSuccess(t *testing.T) {
	code := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
	defer server.Close()
	probe := httpProbe(server.URL, "")
	if err := probe(t.Context()); err == nil {
		t.Error("status 503 counts as ready")
	}
	code = http.StatusOK
	if err := probe(t.Context()); err != nil {
		t.Errorf("status 200: %v", err)
	}
}

// newTestSupervisor returns a supervisor whose daemons end with the test.
func newTestSupervisor(t *testing.T) (*supervisor, context.Context) {
	t.Helper()
	dir := t.TempDir()
	l := layout{checkout: filepath.Join(dir, "checkout")}
	j, err := claim(filepath.Join(dir, "run"), l.checkout)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() {
		if err := kill(marked(l.checkout)); err != nil {
			t.Error(err)
		}
		cancel(errors.New("the test is over"))
	})
	return &supervisor{layout: l, journal: j, fail: cancel}, ctx
}

func shellDaemon(script string) daemon {
	return daemon{name: "test-daemon", path: "/bin/sh", args: []string{"-c", script}}
}

// etcd logs its configuration in one line of some kilobytes.
func TestTheEndOfALogFitsOnAScreen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "etcd.log")
	if err := os.WriteFile(file, []byte(strings.Repeat(strings.Repeat("x", 5000)+"\n", 50)), 0o600); err != nil {
		t.Fatal(err)
	}
	if end := lastLines(file, 15); len(end) > 15*400 {
		t.Errorf("the end of a log has %d bytes, want 15 lines of at most 400", len(end))
	}
}
