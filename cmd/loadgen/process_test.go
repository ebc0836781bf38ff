package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
)

// asProcess makes this test binary behave as loadgen.
const asProcess = "LOADGEN_TEST_AS_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) != "" {
		logLiveHeap()
		main()
	}
	os.Exit(m.Run())
}

// pod is a loadgen process with the files of a pod.
type pod struct {
	t       *testing.T
	command *exec.Cmd
	dir     string
	// planDigest is the digest of the plan that newPod wrote.
	planDigest string
	// metricsAddress is the address at which it serves its metrics.
	metricsAddress string
	// serving is closed when address, the URL of its metrics, is known.
	serving chan struct{}
	address string
	// idle is closed when only scrapes are left.
	idle chan struct{}
	// heaps are answers to liveHeap.
	heaps chan uint64
	// exited is closed when the process has ended, with the error ended.
	exited chan struct{}
	ended  error

	mutex sync.Mutex
	log   bytes.Buffer
}

// newPod writes the plan for a pod; start starts it.
func newPod(t *testing.T, p plan.Plan) *pod {
	t.Helper()
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	pod := &pod{t: t, dir: t.TempDir(), planDigest: plan.Digest(data), metricsAddress: "127.0.0.1:0",
		serving: make(chan struct{}), idle: make(chan struct{}), heaps: make(chan uint64, 1), exited: make(chan struct{})}
	pod.write(filepath.Join("plan", plan.File), string(data))
	pod.write(filepath.Join("control", "placeholder"), "")
	return pod
}

// start starts loadgen, with a command if there is one.
func (p *pod) start(index int, command ...string) *pod {
	p.t.Helper()
	flags := []string{
		"--plan-dir", filepath.Join(p.dir, "plan"), "--" + plan.DigestFlag, p.planDigest, "--control-dir", filepath.Join(p.dir, "control"),
		"--termination-file", p.terminationFile(), "--metrics-address", p.metricsAddress,
	}
	p.command = exec.Command(os.Args[0], append(command, flags...)...)
	p.command.Env = append(os.Environ(), asProcess+"=1", plan.IndexEnv+"="+strconv.Itoa(index))
	stderr, err := p.command.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		p.t.Fatal(err)
	}
	go p.read(stderr)
	p.t.Cleanup(p.kill)
	return p
}

// read keeps the log and finds the messages that tests need.
func (p *pod) read(stderr io.Reader) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.mutex.Lock()
		p.log.Write(append(lines.Bytes(), '\n'))
		p.mutex.Unlock()
		var line struct {
			Msg, Address string
			Bytes        uint64
		}
		_ = json.Unmarshal(lines.Bytes(), &line)
		switch line.Msg {
		case "serving metrics":
			p.address = "http://" + line.Address
			close(p.serving)
		case "done":
			close(p.idle)
		case liveHeapMessage:
			p.heaps <- line.Bytes
		}
	}
	p.ended = p.command.Wait()
	close(p.exited)
}

func (p *pod) kill() {
	_ = p.command.Process.Kill()
	<-p.exited
	if p.t.Failed() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.t.Logf("log of a pod:\n%s", p.log.String())
	}
}

func (p *pod) terminationFile() string { return filepath.Join(p.dir, "termination-log") }

// write replaces a file atomically, as the kubelet does.
func (p *pod) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		p.t.Fatal(err)
	}
}

// control writes a control file.
func (p *pod) control(file, content string) {
	p.t.Helper()
	p.write(filepath.Join("control", file), content)
}

// exits waits for the process and returns its exit code.
func (p *pod) exits(within time.Duration) int {
	p.t.Helper()
	select {
	case <-p.exited:
		if exit, ok := errors.AsType[*exec.ExitError](p.ended); ok {
			return exit.ExitCode()
		}
		if p.ended != nil {
			p.t.Fatalf("waiting for the process: %v", p.ended)
		}
		return 0
	case <-time.After(within):
		p.t.Fatalf("the process still runs after %v", within)
		return -1
	}
}

// terminate sends SIGTERM.
func (p *pod) terminate() { p.signal(syscall.SIGTERM) }

func (p *pod) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// terminationMessage decodes the termination message.
func (p *pod) terminationMessage() *results.Snapshot {
	p.t.Helper()
	data, err := os.ReadFile(p.terminationFile())
	if err != nil {
		p.t.Fatal(err)
	}
	if len(data) > wire.MaxTerminationBytes {
		p.t.Errorf("the termination message has %d bytes", len(data))
	}
	s, err := wire.DecodeTerminationMessage(data)
	if err != nil {
		p.t.Fatalf("the termination message %q: %v", data, err)
	}
	return s
}

// get fetches a path from the process's server.
func (p *pod) get(path string) *http.Response {
	p.t.Helper()
	select {
	case <-p.serving:
	case <-time.After(20 * time.Second):
		p.t.Fatal("the process serves no metrics")
	}
	request, err := http.NewRequest(http.MethodGet, p.address+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Accept", wire.ScrapeAccept)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// scrape reads the process's metrics.
func (p *pod) scrape() *results.Snapshot {
	p.t.Helper()
	response := p.get(plan.MetricsPath)
	s, err := wire.Read(response.Body, response.Header.Get("Content-Type"))
	if err != nil {
		p.t.Fatalf("reading a scrape: %v", err)
	}
	return s
}

// awaits scrapes until a condition holds.
func (p *pod) awaits(what string, holds func(*results.Snapshot) bool) *results.Snapshot {
	p.t.Helper()
	// Long enough for a busy machine: it only ends a test that hangs.
	deadline := time.After(3 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		s := p.scrape()
		if holds(s) {
			return s
		}
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("waited for %s, the pod is %s", what, s.Stage)
		}
	}
}

func (p *pod) reaches(stage results.Stage) *results.Snapshot {
	p.t.Helper()
	return p.awaits(string(stage), func(s *results.Snapshot) bool { return s.Stage == stage })
}

// course reads what happened over the window.
func (p *pod) course() *results.Snapshot {
	p.t.Helper()
	response := p.get(plan.CoursePath)
	defer response.Body.Close()
	s, err := wire.ReadCourse(response.Body)
	if err != nil || s.RunUID == "" {
		p.t.Fatalf("course: %v, %+v", err, s)
	}
	return s
}
