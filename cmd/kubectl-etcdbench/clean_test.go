package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// idle reads one key each second: after its preload it writes nothing.
const idle = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: idle}
spec:
  target: {service: {name: etcd}}
  workload: {type: Range, range: {keys: {count: 10}}}
  load: {pods: 2, connections: 2, clients: 2, durationSeconds: 3600, rate: {perSecond: 2}}
  timeoutSeconds: 7200
`

// measuring starts a local run and returns once it measures.
func measuring(t *testing.T, manifest, endpoint string) (run *runningProcess) {
	t.Helper()
	cmd, _ := process(t, manifest, "run", "--local", "-f", "-", "--endpoints", endpoint)
	return startedUntil(t, cmd, "/s")
}

// startedUntil starts a run and returns once its progress has a text.
func startedUntil(t *testing.T, cmd *exec.Cmd, text string) (run *runningProcess) {
	t.Helper()
	progress := bufio.NewScanner(started(t, cmd, cmd.StderrPipe))
	for progress.Scan() {
		if strings.Contains(progress.Text(), text) {
			rest := make(chan struct{})
			go func() {
				defer close(rest)
				for progress.Scan() {
				}
			}()
			return &runningProcess{process: cmd.Process, end: func() error {
				<-rest
				return cmd.Wait()
			}}
		}
	}
	t.Fatalf("the run ended before %q: %v", text, cmd.Wait())
	return nil
}

// runningProcess is a run in a process of its own.
type runningProcess struct {
	process *os.Process
	end     func() error
}

func (r *runningProcess) stop(t *testing.T, signal syscall.Signal) error {
	t.Helper()
	if err := r.process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	return r.end()
}

// cleaned calls clean, without a cluster.
func cleaned(t *testing.T, wantStatus int, args ...string) (out string) {
	t.Helper()
	cmd, _ := process(t, "", append([]string{"clean"}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if got := exitStatus(t, cmd.Run()); got != wantStatus {
		t.Errorf("%v: wanted exit status %d, got %d:\n%s\n%s", args, wantStatus, got, stdout.String(), stderr.String())
	}
	return stdout.String() + stderr.String()
}

// prefixes returns the prefixes that clean lists.
func prefixes(t *testing.T, endpoint string) (all []string) {
	t.Helper()
	for line := range strings.Lines(cleaned(t, 0, "--endpoints", endpoint)) {
		if word, _, _ := strings.Cut(line, " "); strings.HasPrefix(word, "etcdbench/") {
			all = append(all, word)
		}
	}
	return all
}

// clean removes the keys of a run that was killed, and leaves those of a live one alone that only reads.
func TestCleanBesideALiveRun(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, nil)
	endpoint := cluster.Endpoints[0]
	live := measuring(t, idle, endpoint)
	before := prefixes(t, endpoint)
	if len(before) != 1 {
		t.Fatalf("wanted the prefix of the live run, got %v", before)
	}
	if err := measuring(t, besideOthers(endless), endpoint).stop(t, syscall.SIGKILL); err == nil {
		t.Error("the killed process ended without an error")
	}
	both := prefixes(t, endpoint)
	if len(both) != 2 {
		t.Fatalf("wanted the prefixes of both runs, got %v", both)
	}
	dead := both[0]
	if dead == before[0] {
		dead = both[1]
	}

	out := cleaned(t, 2, "--endpoints", endpoint, "--yes")
	if !strings.Contains(out, before[0]+": changed within ") || !strings.Contains(out, dead+": removed ") || !strings.Contains(out, "no cluster answered") {
		t.Errorf("got\n%s", out)
	}
	if left := prefixes(t, endpoint); len(left) != 1 || left[0] != before[0] {
		t.Errorf("wanted the keys of the live run, got %v", left)
	}
	if got := exitStatus(t, live.stop(t, syscall.SIGINT)); got != 3 {
		t.Errorf("the live run: wanted exit status 3, got %d", got)
	}
	if left := prefixes(t, endpoint); len(left) != 0 {
		t.Errorf("the live run left %v", left)
	}
}

// The command that a run prints when it is left, typed in a shell, deletes the run's keys and no others.
func TestTheCommandThatDeletesWhatIsLeft(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, nil)
	client := cluster.Client(t, "", "")
	typeTheCommand(t, strings.Replace(besideOthers(endless), "target: {", `target: {keyPrefix: "mine/it's/", `, 1), cluster.Endpoints[0], func() {
		if _, err := client.Put(t.Context(), "mine/others", "x"); err != nil {
			t.Fatal(err)
		}
	})
	left, err := client.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range left.Kvs {
		if key := string(kv.Key); key != "mine/others" && key != "etcdbench/.lock" {
			t.Errorf("the command left %s", key)
		}
	}
}

// typeTheCommand interrupts a run twice, so that it leaves its keys, and then types the command that it has printed.
func typeTheCommand(t *testing.T, manifest, endpoint string, before func()) {
	t.Helper()
	cmd, folder := process(t, manifest, "run", "--local", "-f", "-", "--endpoints", endpoint)
	lines := bufio.NewScanner(started(t, cmd, cmd.StderrPipe))
	var command string
	for interrupted := 0; lines.Scan(); {
		if interrupted < 2 && (strings.Contains(lines.Text(), "/s") || interrupted == 1) {
			interrupted++
			_ = cmd.Process.Signal(os.Interrupt)
		}
		if _, after, found := strings.Cut(lines.Text(), " that the target needs: "); found {
			command = after
		}
	}
	if got := exitStatus(t, cmd.Wait()); got != 3 || command == "" {
		t.Fatalf("exit status %d and the command %q", got, command)
	}
	before()
	kubectl := "#!/bin/sh\nshift\nexec " + os.Args[0] + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(folder, "kubectl"), []byte(kubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	typed, _ := process(t, "")
	typed.Path, typed.Args = "/bin/sh", []string{"sh", "-c", command}
	typed.Env = append(typed.Env, "PATH="+folder+":"+os.Getenv("PATH"))
	if out, err := typed.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
}
