package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// processesOf are the processes whose folder for temporary files this is, by their command lines.
func processesOf(t *testing.T, temporary string) map[int]string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	for _, file := range all {
		// Processes that have ended, and those of others, cannot be read.
		variables, _ := os.ReadFile(file)
		words, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if len(words) > 0 && strings.Contains("\x00"+string(variables), "\x00TMPDIR="+temporary+"\x00") {
			found[pid] = strings.ReplaceAll(string(words), "\x00", " ")
		}
	}
	return found
}

func eventually(t *testing.T, holds func() (missing string)) {
	t.Helper()
	deadline := time.Now().Add(maxWait)
	for missing := holds(); missing != ""; missing = holds() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s: %s", maxWait, missing)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A plugin that is killed leaves no member and no data.
func TestAKilledPluginLeavesNothing(t *testing.T) {
	data := etcdtest.DataDir(t)
	cmd, temporary := process(t, endless, "run", "--local", "--members", "3", "--data-dir", data, "-f", "-")
	progress := bufio.NewScanner(started(t, cmd, cmd.StderrPipe))
	for progress.Scan() && !strings.Contains(progress.Text(), " p99 ") {
	}
	if all := processesOf(t, temporary); len(all) != 5 {
		t.Errorf("found %d processes, wanted the plugin, a supervisor and three members: %v", len(all), all)
	}
	if left, _ := os.ReadDir(data); len(left) != 1 {
		t.Errorf("found %v, wanted one folder for all members", left)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, func() string {
		all := processesOf(t, temporary)
		left, err := os.ReadDir(data)
		if len(all) == 0 && len(left) == 0 && err == nil {
			return ""
		}
		return fmt.Sprintf("found the processes %v and the data %v, %v", all, left, err)
	})
}

// A terminal sends Ctrl-C to all processes of a group. The members serve until the run has stopped.
func TestCtrlCOfATerminal(t *testing.T) {
	cmd, temporary := process(t, endless, "run", "--local", "--members", "1", "-f", "-", "-o", "json")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	cmd.Stdout = &out
	progress, sent := bufio.NewScanner(started(t, cmd, cmd.StderrPipe)), false
	for progress.Scan() {
		if !sent && strings.Contains(progress.Text(), " p99 ") {
			sent = true
			if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
				t.Error(err)
			}
		}
	}
	if got := exitStatus(t, cmd.Wait()); got != 3 {
		t.Errorf("wanted exit status 3, got %d", got)
	}
	run := readRun(t, out.String())
	if s := run.Status.Summary; s == nil || s.MeasuredRequests == 0 || s.FailedRequests != 0 || run.Status.Ephemeral.Pods[0].Lost != "" {
		t.Errorf("wanted the result so far without a failure, got %+v", s)
	}
	if all := processesOf(t, temporary); len(all) != 0 {
		t.Errorf("processes are left: %v", all)
	}
}

// A signal while members start ends them at once.
func TestASignalWhileMembersStart(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		waits := filepath.Join(t.TempDir(), "etcd")
		if err := os.WriteFile(waits, []byte("#!/bin/sh\nexec sleep 3600"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd, temporary := process(t, endless, "run", "--local", "--members", "1", "--member-binary", waits, "-f", "-")
		progress, seen := bufio.NewScanner(started(t, cmd, cmd.StderrPipe)), ""
		for progress.Scan() {
			seen += progress.Text() + "\n"
			if strings.Contains(progress.Text(), "Starting 1 etcd member") {
				if err := cmd.Process.Signal(signal); err != nil {
					t.Error(err)
				}
			}
		}
		if got := exitStatus(t, cmd.Wait()); got != 3 || !strings.Contains(seen, "Stopping the members") {
			t.Errorf("%s: wanted exit status 3 and a notice, got %d and:\n%s", signal, got, seen)
		}
		if all := processesOf(t, temporary); len(all) != 0 {
			t.Errorf("processes are left: %v", all)
		}
		if left, _ := os.ReadDir(temporary); len(left) != 0 {
			t.Errorf("the members' data is left: %v", left)
		}
	}
}

func readRun(t *testing.T, text string) *v1alpha1.EtcdBenchmark {
	t.Helper()
	run := &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal([]byte(text), run); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return run
}

// A run whose member is lost goes on, and its result has the end of that member's log.
func TestTheResultHasTheWordsOfALostMember(t *testing.T) {
	var seen strings.Builder
	brief := strings.Replace(endless, "durationSeconds: 3600", "durationSeconds: 8", 1)
	cmd, temporary := process(t, brief, "run", "--local", "--members", "3", "-f", "-", "-o", "json")
	var out strings.Builder
	cmd.Stdout = &out
	progress, killed := bufio.NewScanner(started(t, cmd, cmd.StderrPipe)), false
	for progress.Scan() {
		seen.WriteString(progress.Text() + "\n")
		if killed || !strings.Contains(progress.Text(), " p99 ") {
			continue
		}
		for pid, words := range processesOf(t, temporary) {
			if strings.Contains(words, "--name=member-1 ") {
				killed = true
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
		}
	}
	_ = cmd.Wait()
	const lost = "ended (signal: killed; its log ends with: "
	s := readRun(t, out.String()).Status
	if s.Summary == nil || s.Ephemeral == nil || len(s.Ephemeral.Pods) != 3 {
		t.Fatalf("wanted a result of three members:\n%s", out.String())
	}
	for i, p := range s.Ephemeral.Pods {
		if strings.HasPrefix(p.Lost, lost) != (i == 1) {
			t.Errorf("%s: found lost: %q", p.Name, p.Lost)
		}
	}
	if all := strings.Join(s.Summary.Warnings, "\n"); strings.Count(all, "Member 1 (member-1) "+lost) != 1 {
		t.Errorf("wanted the loss of member-1 in the warnings:\n%s", all)
	}
	if strings.Count(seen.String(), "Member 1 (member-1) "+lost) != 1 {
		t.Errorf("wanted the loss of member-1 in:\n%s", seen.String())
	}
}
