package processtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asTest makes this program a test process that starts a server, and tells the process ID of the server.
const asTest = "PROCESSTEST_AS_TEST"

// limit bounds how long the end of a process may take.
const limit = 30 * time.Second

func TestMain(m *testing.M) {
	if os.Getenv(asTest) == "" {
		os.Exit(m.Run())
	}
	server := exec.Command("sleep", "1000")
	server.Stdout = os.Stdout
	if _, err := Start(server); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(server.Process.Pid)
	select {}
}

// A test process that a signal ends runs no cleanup, and leaves no server.
func TestAServerEndsWithTheTestProcess(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		test := exec.Command(os.Args[0])
		test.Env = append(os.Environ(), asTest+"=1")
		// The server has the other end of this pipe, too.
		out, err := test.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := test.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		line, err := lines.ReadString('\n')
		pid, notNumber := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || notNumber != nil {
			t.Fatalf("wanted a process ID, found %q: %v", line, err)
		}
		if err := test.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, lines)
			close(gone)
		}()
		select {
		case <-gone:
		case <-time.After(limit):
			t.Errorf("%v: the server %d still runs %v later", signal, pid, limit)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			<-gone
		}
		_ = test.Wait()
	}
}

// A server does not end with the thread of its caller.
func TestAServerOutlivesTheThreadOfItsCaller(t *testing.T) {
	server := exec.Command("cat")
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	thread, started, done := make(chan int), make(chan error, 1), make(chan struct{})
	defer close(done)
	var onOtherThread func()
	onOtherThread = func() {
		runtime.LockOSThread()
		if syscall.Gettid() == os.Getpid() {
			// The main thread does not end. It is kept from the next goroutine.
			defer runtime.UnlockOSThread()
			go onOtherThread()
			<-done
			return
		}
		// The thread ends with this goroutine, which does not unlock it.
		thread <- syscall.Gettid()
		_, err := Start(server)
		started <- err
	}
	go onOtherThread()
	task := fmt.Sprint("/proc/self/task/", <-thread)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(limit); ; runtime.Gosched() {
		if _, err := os.Stat(task); os.IsNotExist(err) {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the thread %s has not ended after %v", task, limit)
		}
	}
	if _, err := io.WriteString(in, "alive\n"); err != nil {
		t.Error(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "alive\n" {
		t.Errorf("the server answered %q: %v", line, err)
	}
	_ = in.Close()
}
