package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// daemon is one long-running program of the cluster.
type daemon struct {
	name string
	// path is the program, args are its arguments.
	path string
	args []string
	// probe returns nil once the daemon serves.
	probe func(ctx context.Context) error
}

// readyTimeout bounds how long a daemon may take to serve. On a loaded machine with two cores, the slowest needs about
// 15 s.
const readyTimeout = 90 * time.Second

// supervisor starts daemons. If one of them dies, it ends its context with the reason.
type supervisor struct {
	layout  layout
	journal *journal
	fail    context.CancelCauseFunc
}

// start starts d detached from the terminal, records it, and watches it while this program runs.
func (s *supervisor) start(d daemon) error {
	if err := os.MkdirAll(s.layout.path("logs"), 0o755); err != nil {
		return err
	}
	log, err := os.Create(s.layout.logFile(d.name))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(d.path, d.args...)
	cmd.Dir = "/"
	cmd.Env = daemonEnvironment(s.layout)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", d.name, err)
	}
	// An ended process keeps its pid until Wait is called.
	started, err := identify(d.name, cmd.Process.Pid)
	if err != nil {
		return s.deathOf(d, cmd.Wait())
	}
	go s.watch(d, cmd)
	s.journal.Processes = append(s.journal.Processes, started)
	return s.journal.write()
}

// daemonEnvironment is small on purpose: a user's variables (proxies, GO*) must not change how the cluster works.
func daemonEnvironment(l layout) []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + libDir,
		marker + "=" + l.checkout,
	}
}

func (s *supervisor) watch(d daemon, cmd *exec.Cmd) {
	s.fail(s.deathOf(d, cmd.Wait()))
}

func (s *supervisor) deathOf(d daemon, reason error) error {
	if reason == nil {
		reason = errors.New("exit status 0")
	}
	return fmt.Errorf("%s ended (%w); the end of its log:\n%s", d.name, reason, lastLines(s.layout.logFile(d.name), 15))
}

// await waits until d serves.
func (s *supervisor) await(ctx context.Context, d daemon) error {
	if err := poll(ctx, readyTimeout, d.probe); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("%s does not serve: %w; the end of its log:\n%s", d.name, err, lastLines(s.layout.logFile(d.name), 15))
	}
	return nil
}

// poll repeats probe until it succeeds. It returns the last error when the timeout has passed or ctx ends.
func poll(ctx context.Context, timeout time.Duration, probe func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := probe(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-ticker.C:
		}
	}
}

// httpProbe succeeds if url returns status 200. caFile verifies the server. Without it, the certificate is not
// verified, for daemons that sign their own.
func httpProbe(url, caFile string) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := probeClient(caFile)
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s returned %s, wanted 200 OK", url, response.Status)
		}
		return nil
	}
}

func probeClient(caFile string) (*http.Client, error) {
	config := &tls.Config{InsecureSkipVerify: caFile == ""}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(pem)
	}
	// Proxy is nil: a user's proxy cannot reach this host's own addresses.
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: config}}, nil
}

// toolDaemon is a daemon whose binary hack/tools built.
func toolDaemon(l layout, name string, probe func(context.Context) error, args ...string) daemon {
	return daemon{name: name, path: filepath.Join(l.tool(name)), args: args, probe: probe}
}
