package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

const (
	// quotaBytes is more than any comparison writes.
	quotaBytes = 8 << 30
	// startLimit is how long etcd may take to start.
	startLimit = 30 * time.Second
	// ticksPerSecond is the unit of /proc/PID/stat (USER_HZ), which is fixed on Linux.
	ticksPerSecond = 100
)

// server is a real etcd of one member.
type server struct {
	cmd *exec.Cmd
	dir string
	// endpoint is host:port.
	endpoint string
	// store is what serves there; empty for etcd.
	store spec.Datastore
	// identity is nil for an etcd without TLS.
	identity *identity
	// log may be read after stop.
	log bytes.Buffer
}

// serverKind is how an etcd serves: over TLS or not, with another program of bin/tools if one is named, and with further flags.
type serverKind struct {
	secure  bool
	program string
	flags   []string
}

// startServer starts an etcd. Its data lies on a tmpfs, so that no disk affects the result.
func startServer(ctx context.Context, program, tmpfs string, kind serverKind) (*server, error) {
	if err := requireTmpfs(tmpfs); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(tmpfs, "etcdbench-perf-")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir}
	if kind.program != "" {
		program = filepath.Join("bin", "tools", kind.program)
	}
	if err := s.launch(program, kind); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.prepare(ctx); err != nil {
		err = errors.Join(err, s.stop())
		return nil, fmt.Errorf("%w: %s", err, lastOf(s.log.Bytes(), 1000))
	}
	return s, nil
}

func (s *server) launch(program string, kind serverKind) error {
	addresses, err := freeport.Addresses(2)
	if err != nil {
		return err
	}
	client, peer := addresses[0], addresses[1]
	s.endpoint = client
	flags := slices.Clone(kind.flags)
	if kind.secure {
		if s.identity, err = writeIdentity(s.dir); err != nil {
			return err
		}
		flags = append(flags, "--cert-file="+s.identity.certificate(), "--key-file="+s.identity.key())
	}
	flags = append(flags, "--name=perf", "--data-dir="+filepath.Join(s.dir, "data"), "--log-level=error",
		"--quota-backend-bytes="+strconv.Itoa(quotaBytes),
		"--listen-client-urls="+s.url(), "--advertise-client-urls="+s.url(),
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=perf=http://"+peer)
	s.cmd = exec.Command(program, flags...)
	s.cmd.Stderr = &s.log
	return s.cmd.Start()
}

func (s *server) url() string {
	if s.identity != nil {
		return "https://" + s.endpoint
	}
	return "http://" + s.endpoint
}

// trust is the TLS configuration of clients; nil without TLS.
func (s *server) trust() *tls.Config {
	if s.identity == nil {
		return nil
	}
	return s.identity.trust
}

// target is the etcd in the terms of a plan.
func (s *server) target() plan.Target {
	t := plan.Target{Datastore: cmp.Or(s.store, spec.DefaultDatastore), Endpoints: []string{s.endpoint}, Members: spec.MembersAll}
	if s.identity != nil {
		t.TLS = &plan.TLS{Dir: s.identity.dir, SecretName: "perf"}
	}
	return t
}

func requireTmpfs(dir string) error {
	const tmpfsMagic = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("looking at %s: %w", dir, err)
	}
	if fs.Type != tmpfsMagic {
		return fmt.Errorf("%s: wanted a tmpfs, so that no disk decides, found the file system type %#x; name another with -tmpfs", dir, fs.Type)
	}
	return nil
}

// prepare waits until etcd serves, and writes the key that peers read.
func (s *server) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for !s.isHealthy(ctx) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for etcd on %s: %w", s.endpoint, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.url()}, TLS: s.trust(), Context: ctx})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Put(ctx, peerKey, strings.Repeat("v", valueSize))
	return err
}

func (s *server) isHealthy(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url()+"/health", nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: s.trust(), DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// cpu is the processor time that etcd has used so far.
func (s *server) cpu() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return cpuOfStat(string(stat))
}

// cpuOfStat adds user and system time, fields 14 and 15 of proc_pid_stat(5). The
// second field is in parentheses and may hold anything.
func cpuOfStat(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat: wanted 15 fields and more, found %.100q", stat)
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * (time.Second / ticksPerSecond), err
}

// freeze stops etcd, with its connections open, from one time to another, or until ctx ends.
func (s *server) freeze(ctx context.Context, from, to time.Time) error {
	waitUntil(ctx, from)
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	waitUntil(ctx, to)
	return s.cmd.Process.Signal(syscall.SIGCONT)
}

func waitUntil(ctx context.Context, t time.Time) {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// stop ends etcd and removes its data.
func (s *server) stop() error {
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	// It was killed, so the error is expected.
	_ = s.cmd.Wait()
	return os.RemoveAll(s.dir)
}
