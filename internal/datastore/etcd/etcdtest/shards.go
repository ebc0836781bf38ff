package etcdtest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// shardVariable marks the processes that RunSharded starts.
const shardVariable = "ETCDTEST_SHARD"

// RunSharded runs the tests of a package in several processes side by side, and returns the exit status for TestMain.
// Members in one process share their metrics, so tests that compare those cannot run in parallel in one process; and most
// of their time is waiting. If some tests are selected by name, or a profile is wanted, all run in this process.
func RunSharded(m *testing.M, shards int) int {
	flag.Parse()
	if os.Getenv(shardVariable) != "" {
		go endWithParent()
		return m.Run()
	}
	if selective() {
		return m.Run()
	}
	listed, err := exec.Command(os.Args[0], "-test.list=.").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "listing the tests:", err)
		return 2
	}
	var names []string
	for line := range strings.Lines(string(listed)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		fmt.Fprintln(os.Stderr, "listing the tests: wanted at least one, found none")
		return 2
	}
	var running sync.WaitGroup
	var printing sync.Mutex
	failed := false
	for i := range min(shards, len(names)) {
		running.Go(func() {
			output, err := run(shard(names, i, shards))
			printing.Lock()
			defer printing.Unlock()
			os.Stdout.Write(output)
			failed = failed || err != nil
		})
	}
	running.Wait()
	if failed {
		return 1
	}
	return 0
}

// run returns what the process printed. The open pipe shows it that this process lives.
func run(cmd *exec.Cmd) ([]byte, error) {
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return cmd.CombinedOutput()
}

// endWithParent ends this process when the one that started it is gone.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Fprintln(os.Stderr, "the process that started this shard is gone")
	os.Exit(2)
}

// selective says whether a flag asks for less than, or something else than, a run of all tests.
func selective() bool {
	found := false
	flag.Visit(func(f *flag.Flag) {
		switch strings.TrimPrefix(f.Name, "test.") {
		case "run", "list", "bench", "fuzz", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "coverprofile", "gocoverdir":
			found = found || f.Value.String() != ""
		}
	})
	return found
}

// shard is the process that runs each of the names whose index is i modulo shards.
func shard(names []string, i, shards int) *exec.Cmd {
	var own []string
	for j := i; j < len(names); j += shards {
		own = append(own, names[j])
	}
	// The log of files that a test reads serves go test's cache, which knows one process.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool {
		return strings.HasPrefix(arg, "-test.testlogfile") || strings.HasPrefix(arg, "-test.run=")
	})
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^(" + strings.Join(own, "|") + ")$"}, args...)...)
	cmd.Env = append(os.Environ(), shardVariable+"=1")
	return cmd
}
