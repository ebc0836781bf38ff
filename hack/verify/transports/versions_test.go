//go:build versions

package transports

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// versions are the required versions of the programs in bin/tools.
var versions = map[string]string{"etcd-debian": "3.", "etcd-3.6": "3.6.", "etcd": "3.7."}

// TestTheStoreIsTheSameOnAllVersions runs the programs, plain and over TLS.
func TestTheStoreIsTheSameOnAllVersions(t *testing.T) {
	for program, version := range versions {
		for name, authority := range map[string]*etcdtest.Authority{"plain": nil, "TLS": etcdtest.NewAuthority(t)} {
			t.Run(program+" "+name, func(t *testing.T) {
				client, target := start(t, program, authority)
				status, err := client.Status(t.Context(), client.Endpoints()[0])
				if err != nil || !strings.HasPrefix(status.Version, version) {
					t.Fatalf("wanted etcd %s, found %v, %v", version, status, err)
				}
				t.Logf("etcd %s", status.Version)
				wantTheSame(t, client, target, 1)
			})
		}
	}
}

// startAttempts is how often etcd is started again because another program took a port that had just been free.
const startAttempts = 3

// start runs a program until the test ends.
func start(t *testing.T, program string, authority *etcdtest.Authority, flags ...string) (*clientv3.Client, plan.Target) {
	t.Helper()
	scheme, target := "http", plan.Target{Datastore: spec.Etcd, Members: spec.MembersAll}
	var secure *tls.Config
	if authority != nil {
		files := authority.ServerFiles(t)
		flags = append(flags, "--cert-file="+files.CertFile, "--key-file="+files.KeyFile, "--trusted-ca-file="+files.TrustedCAFile, "--client-cert-auth")
		scheme, secure = "https", authority.ClientTLS(t)
		target.TLS = &plan.TLS{Dir: authority.SecretDir(t), SecretName: "test"}
	}
	for attempt := 1; ; attempt++ {
		addresses, err := freeport.Addresses(2)
		if err != nil {
			t.Fatal(err)
		}
		url, peer := scheme+"://"+addresses[0], "http://"+addresses[1]
		ended := launch(t, program, append(slices.Clone(flags), "--name=test", "--data-dir="+filepath.Join(t.TempDir(), "data"), "--log-level=error",
			"--listen-client-urls="+url, "--advertise-client-urls="+url,
			"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=test="+peer))
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, TLS: secure, Logger: zap.NewNop()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		err = awaitReady(t, client, ended)
		if err == nil {
			target.Endpoints = addresses[:1]
			return client, target
		}
		if attempt == startAttempts {
			t.Fatalf("starting %s: %v", program, err)
		}
	}
}

// launch runs a program until the test ends. ended is closed when it has ended.
func launch(t *testing.T, program string, flags []string) (ended chan struct{}) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "bin", "tools", program)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("wanted the program %s: run `make tools-etcds`: %v", program, err)
	}
	cmd := exec.Command(path, flags...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if t.Failed() {
			t.Logf("%s said:\n%s", program, log.Bytes())
		}
	})
	return ended
}

// awaitReady waits until etcd answers a read.
func awaitReady(t *testing.T, client *clientv3.Client, ended <-chan struct{}) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		attempt, end := context.WithTimeout(ctx, 5*time.Second)
		_, err := client.Get(attempt, "-")
		end()
		select {
		case <-ended:
			return errors.New("it has ended")
		case <-ctx.Done():
			return fmt.Errorf("etcd does not answer: %w", err)
		default:
		}
		if err == nil {
			return nil
		}
	}
}
