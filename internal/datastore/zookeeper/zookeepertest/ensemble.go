package zookeepertest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/faulttest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/processtest"
)

const (
	clientPort, adminPort, peerPort, electionPort = "2181", "8080", "2888", "3888"
	// heapMiB is enough for the tests' nodes.
	heapMiB = 128
	// startTimeout bounds how long an ensemble may take to serve.
	startTimeout = time.Minute
)

// Server is one process.
type Server struct {
	// Host is an address of the loopback interface that is this server's alone, so that
	// its ports can be the usual ones.
	Host string

	cmd   *exec.Cmd
	ended <-chan struct{}
	log   *bytes.Buffer
}

// Endpoint returns where clients connect.
func (s *Server) Endpoint() string { return net.JoinHostPort(s.Host, clientPort) }

// Admin returns the URL of a command of the AdminServer.
func (s *Server) Admin(command string) string {
	return "http://" + net.JoinHostPort(s.Host, adminPort) + "/commands/" + command
}

// Kill ends the server as a crash would.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
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

// SmallDisk is a setting with which a server without others writes to a disk of 64 MB.
const SmallDisk = "dataLogDir=small"

// Start starts an ensemble of this many servers, until the test ends, and waits until it serves. Settings are further
// lines of zoo.cfg, in which HOST is the server's own, or flags of Java.
func Start(t *testing.T, servers int, settings ...string) []*Server {
	t.Helper()
	root := tools(t)
	network := rand.N(250) + 2
	var all []*Server
	for i := range servers {
		all = append(all, &Server{Host: fmt.Sprintf("127.%d.%d.%d", network, rand.N(250)+2, i+2), log: &bytes.Buffer{}})
	}
	flags := slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return !isFlag(s) })
	for i, s := range all {
		s.start(t, root, i+1, configuration(all, i, settings), flags)
	}
	for _, s := range all {
		s.awaitService(t)
		Client(t, s.Endpoint())
	}
	return all
}

// awaitService waits until the server serves. ZooKeeper 3.8.0 listens earlier, and never answers a client that connects
// in between (NullPointerException in ZooKeeperServer.removeCnxn).
func (s *Server) awaitService(t *testing.T) {
	t.Helper()
	limit := time.After(startTimeout)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		found := s.ask("srvr")
		if strings.Contains(found, "Mode: ") {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("wanted the ZooKeeper at %s to serve within %v, found %q", s.Host, startTimeout, found)
		}
	}
}

// ask sends a four-letter word and returns what came back, if anything.
func (s *Server) ask(word string) string {
	conn, err := net.DialTimeout("tcp", s.Endpoint(), time.Second)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, word); err != nil {
		return err.Error()
	}
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// tools returns the folder with Debian's files.
func tools(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	root := filepath.Join(dir, "bin", "tools", "zookeeper-debian")
	if _, err := os.Stat(root); err != nil {
		t.Fatalf("wanted ZooKeeper in %s: run `make tools-stores`: %v", root, err)
	}
	return root
}

// configuration returns the zoo.cfg of a server, but for its dataDir.
func configuration(all []*Server, own int, settings []string) string {
	host := all[own].Host
	lines := []string{
		"tickTime=2000", "initLimit=10", "syncLimit=5",
		"clientPort=" + clientPort, "clientPortAddress=" + host,
		"admin.serverAddress=" + host, "admin.serverPort=" + adminPort,
	}
	if len(all) > 1 {
		for i, s := range all {
			lines = append(lines, fmt.Sprintf("server.%d=%s:%s:%s", i+1, s.Host, peerPort, electionPort))
		}
	}
	for _, setting := range settings {
		if !isFlag(setting) {
			lines = append(lines, strings.ReplaceAll(setting, "HOST", host))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func isFlag(setting string) bool { return strings.HasPrefix(setting, "-") }

func (s *Server) start(t *testing.T, root string, id int, config string, flags []string) {
	t.Helper()
	data := t.TempDir()
	file := filepath.Join(data, "zoo.cfg")
	write(t, file, config+"dataDir="+data+"\n")
	write(t, filepath.Join(data, "myid"), fmt.Sprintln(id))
	args := append(append([]string{java(t, root), fmt.Sprintf("-Xmx%dm", heapMiB)}, flags...),
		"-cp", classPath(t, root), "org.apache.zookeeper.server.quorum.QuorumPeerMain", file)
	if strings.Contains(config, SmallDisk) {
		args = faulttest.OnSmallDisk("small", args)
	}
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Dir = data
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	var err error
	if s.ended, err = processtest.Start(s.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			t.Logf("the ZooKeeper at %s said:\n%s", s.Host, s.log.Bytes())
		}
	})
}

// versionVariable is "3.9" for that version; otherwise the servers are Debian's.
const versionVariable = "ZOOKEEPER"

// classPath has all jars, and of the log backends only the one that needs no file.
func classPath(t *testing.T, root string) string {
	t.Helper()
	folder := filepath.Join(root, "usr/share/java")
	if version := os.Getenv(versionVariable); version != "" {
		folder = filepath.Join(filepath.Dir(root), "zookeeper-"+version)
	}
	jars, err := filepath.Glob(filepath.Join(folder, "*.jar"))
	if err != nil || len(jars) == 0 {
		t.Fatalf("found no jars in %s: run `make tools-stores`: %v", folder, err)
	}
	return strings.Join(slices.DeleteFunc(jars, func(jar string) bool {
		name := filepath.Base(jar)
		return strings.HasPrefix(name, "slf4j-") && !strings.HasPrefix(name, "slf4j-api") && !strings.HasPrefix(name, "slf4j-simple")
	}), ":")
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Client returns a client of running servers, until the test ends.
func Client(t *testing.T, endpoints ...string) *zk.Conn {
	t.Helper()
	client, events, err := zk.Connect(endpoints, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(silence{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	limit := time.After(startTimeout)
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return client
			}
		case <-limit:
			t.Fatalf("%v give no session within %v", endpoints, startTimeout)
		}
	}
}

type silence struct{}

func (silence) Printf(string, ...any) {}

// Tools returns a folder with zkCli.sh, ZooKeeper's own client.
func Tools(t *testing.T) string {
	t.Helper()
	root, dir := tools(t), t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexec %s -cp %s org.apache.zookeeper.ZooKeeperMain \"$@\"\n", java(t, root), classPath(t, root))
	if err := os.WriteFile(filepath.Join(dir, "zkCli.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// java is the path of Debian's java.
func java(t *testing.T, root string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "usr/lib/jvm/java-*/bin/java"))
	if err != nil || len(found) == 0 {
		t.Fatalf("found no java in %s: %v", root, err)
	}
	return found[0]
}
