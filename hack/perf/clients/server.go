package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// quotaBytes is more than any contest writes.
	quotaBytes = 8 << 30
	// startLimit is how long etcd may take to start.
	startLimit = 30 * time.Second
	// ticksPerSecond is the unit of /proc/PID/stat (USER_HZ), which Linux has
	// fixed for programs.
	ticksPerSecond = 100
)

// server is a real etcd of one member.
type server struct {
	cmd *exec.Cmd
	dir string
	// endpoint is host:port.
	endpoint string
	// log is for who reads it after stop.
	log bytes.Buffer
}

// startServer starts an etcd with its data on a tmpfs, so that no disk decides.
func startServer(ctx context.Context, program, tmpfs string) (*server, error) {
	if err := requireTmpfs(tmpfs); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(tmpfs, "etcdbench-perf-")
	if err != nil {
		return nil, err
	}
	client, peer, err := freeAddresses()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &server{dir: dir, endpoint: client}
	s.cmd = exec.Command(program, "--name=perf", "--data-dir="+filepath.Join(dir, "data"), "--log-level=error",
		"--quota-backend-bytes="+strconv.Itoa(quotaBytes),
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=perf=http://"+peer)
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.prepare(ctx); err != nil {
		err = errors.Join(err, s.stop())
		return nil, fmt.Errorf("%w: %s", err, lastOf(s.log.Bytes(), 1000))
	}
	return s, nil
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

// freeAddresses returns two addresses of this host on which nothing listens.
func freeAddresses() (a, b string, err error) {
	var addresses [2]string
	for i := range addresses {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close()
		addresses[i] = l.Addr().String()
	}
	return addresses[0], addresses[1], nil
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
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{s.endpoint}, Context: ctx})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Put(ctx, peerKey, strings.Repeat("v", valueSize))
	return err
}

func (s *server) isHealthy(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.endpoint+"/health", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
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

// freeze stops etcd, its connections open, from one time to another, or less if
// ctx ends.
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
	// It was killed: that is no news.
	_ = s.cmd.Wait()
	return os.RemoveAll(s.dir)
}
