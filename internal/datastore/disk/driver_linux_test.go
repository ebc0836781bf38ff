package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/storage/wal"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// childFolder makes the test binary a process that appends one entry and then waits to be killed.
const childFolder = "ETCDBENCH_DISK_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		w, err := newWriter(dir)
		if err == nil {
			err = w.append([]byte("entry")).err
		}
		fmt.Println("appended", err)
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("found %v in the folder (%v), wanted nothing", left, err)
	}
}

func connect(t *testing.T, dir string) (*Driver, *conn) {
	t.Helper()
	d := New(plan.Plan{Target: plan.Target{Dir: dir}})
	c, err := d.Connect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, c.(*conn)
}

func request(data []byte) *load.Request {
	return &load.Request{Operation: spec.OperationAppend, Value: data, Timeout: time.Minute}
}

// The flush is the end of its request, the entry is in the file, and the file has no name.
func TestAFlushIsTheEndOfItsRequest(t *testing.T) {
	dir := t.TempDir()
	d, c := connect(t, dir)
	requireEmpty(t, dir)
	began := load.Now()
	ctx := load.WithPhase(t.Context(), results.PhaseMeasured)
	for i := range 20 {
		resp := load.Response{}
		c.Do(ctx, request(bytes.Repeat([]byte{byte(i)}, 2300)), &resp)
		if !resp.Succeeded() || resp.Sent < began || resp.InnerSince <= resp.Sent || resp.Received <= resp.InnerSince {
			t.Fatalf("got %+v, wanted a success that was sent after %d, with a flush at its end", resp, began)
		}
		began = resp.Received
	}
	if got := d.Requests()[spec.RPCAppend][results.PhaseMeasured]; got != 20 {
		t.Errorf("counted %d requests, wanted 20", got)
	}
}

func TestEntriesAreWrittenAndLogsFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	w, err := newWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	appends := func(data string) {
		t.Helper()
		if o := w.append([]byte(data)); o.err != nil {
			t.Fatal(o.err)
		}
		content, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", w.current.file.Fd()))
		if err != nil || !bytes.Contains(content, []byte(data)) || int64(len(content)) != wal.SegmentSizeBytes {
			t.Fatalf("the file has %d bytes (%v), wanted %d with the entry %s", len(content), err, wal.SegmentSizeBytes, data)
		}
	}
	appends("the first")
	first := w.current
	first.written = wal.SegmentSizeBytes/2 + 1
	appends("in the second half")
	if w.next == nil || w.current != first {
		t.Fatal("wanted the same log, and the next one in preparation")
	}
	first.written = wal.SegmentSizeBytes - 1
	appends("in the next log")
	if w.current == first || w.next != nil {
		t.Fatal("wanted the next log")
	}
	// One log that becomes full at once is replaced, too.
	w.current.written = wal.SegmentSizeBytes
	appends("in the third log")
	requireEmpty(t, dir)
}

func TestAKilledProcessLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childFolder+"="+dir)
	out, err := child.StdoutPipe()
	if err == nil {
		_, err = child.StdinPipe()
	}
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, err := out.Read(line)
	if got := strings.TrimSpace(string(line[:n])); got != "appended <nil>" {
		t.Fatalf("the process says %q (%v)", got, err)
	}
	requireEmpty(t, dir)
	_ = child.Process.Kill()
	_ = child.Wait()
	requireEmpty(t, dir)
}

// A log that fails ends the load with its reason, and is not written again. Its requests do not repeat at full speed.
func TestALogThatFailsEndsTheLoad(t *testing.T) {
	d := New(plan.Plan{Target: plan.Target{Dir: t.TempDir()}})
	w, err := newWriter(d.plan.Target.Dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.current.file.Close()
	c := newConn(w, &d.requests, d.closing, d.lose)
	t.Cleanup(func() { _ = d.Close() })
	resp := load.Response{}
	if c.Do(t.Context(), request([]byte("a")), &resp); resp.Code != codeUnknown {
		t.Errorf("got %+v, wanted %s", resp, codeUnknown)
	}
	select {
	case err := <-d.Broken():
		if f := load.FailureOf(err); f.Reason != results.FailureTargetLost || !strings.Contains(f.Message, d.plan.Target.Dir+" failed") || !strings.Contains(f.Message, resp.Detail) {
			t.Errorf("got %v, wanted the error of %+v", err, resp)
		}
	default:
		t.Error("the load goes on")
	}
	written := w.current.written
	if c.Do(t.Context(), request([]byte("b")), &resp); resp.Code != load.CodeUnavailable || w.current.written != written {
		t.Errorf("got %+v and %d more bytes, wanted %s and none", resp, w.current.written-written, load.CodeUnavailable)
	}
	full := New(plan.Plan{})
	full.lose(&os.PathError{Op: "write", Err: syscall.ENOSPC})
	full.lose(errors.New("a later one"))
	if err := <-full.Broken(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "is full") {
		t.Errorf("got %v, wanted that the disk is full", err)
	}
}

// A writer ends although its last outcome has no reader, and Close may be called twice.
func TestAWriterWithoutAReaderEnds(t *testing.T) {
	d, c := connect(t, t.TempDir())
	// The outcome of the second entry waits behind that of the first, as after requests that were cancelled.
	for range 2 {
		c.entries <- entry{number: 1, data: []byte("a")}
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-c.ended:
	default:
		t.Error("the writer did not end")
	}
}

// A connection that is made after the driver was closed ends, too.
func TestAConnectionAfterTheEnd(t *testing.T) {
	dir := t.TempDir()
	d := New(plan.Plan{Target: plan.Target{Dir: dir}})
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := d.Connect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.(*conn).ended:
	case <-time.After(time.Minute):
		t.Error("the writer did not end")
	}
	requireEmpty(t, dir)
}

// hung is a connection to a writer that never ends a flush.
func hung() *conn {
	return &conn{requests: &load.RequestCounter{}, entries: make(chan entry, 1), written: make(chan outcome, 1)}
}

// A disk that hangs keeps a request no longer than its time-out. The late end of its flush is not that of the next request.
func TestADiskThatHangs(t *testing.T) {
	c, resp := hung(), load.Response{}
	req := request([]byte("a"))
	req.Timeout = 10 * time.Millisecond
	if c.Do(t.Context(), req, &resp); resp.Code != load.CodeDeadlineExceeded {
		t.Fatalf("got %+v, wanted %s", resp, load.CodeDeadlineExceeded)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if c.Do(ended, request([]byte("b")), &resp); resp.Code != load.CodeCanceled {
		t.Fatalf("got %+v, wanted %s", resp, load.CodeCanceled)
	}
	<-c.entries
	c.written <- outcome{number: 1, sent: 1, flushed: 2, synced: 3}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Do(t.Context(), request([]byte("c")), &resp)
	}()
	e := <-c.entries
	c.written <- outcome{number: e.number, sent: 4, flushed: 5, synced: 6}
	<-done
	if want := (load.Response{Sent: 4, InnerSince: 5, Received: 6}); resp != want || e.number != 3 {
		t.Errorf("got %+v of entry %d, wanted %+v of entry 3", resp, e.number, want)
	}
}

func TestFoldersThatShowNothingAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"/nonexistent": "Name a folder that exists", file: "not a directory", "/dev/shm": "lies in memory", "/proc": "MB of free space",
	} {
		if _, err := os.Stat("/dev/shm"); dir == "/dev/shm" && err != nil {
			continue
		}
		_, _, err := New(plan.Plan{Target: plan.Target{Dir: dir}}).Preflight(t.Context())
		if f := load.FailureOf(err); f == nil || f.Reason != results.FailureTargetUnhealthy || !strings.Contains(f.Message, want) {
			t.Errorf("%s: got %v, wanted an error that says %q", dir, err, want)
		}
	}
}
