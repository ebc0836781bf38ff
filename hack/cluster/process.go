package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// marker is an environment variable of every daemon of the cluster, with the checkout as its value. Their children
// inherit it. It identifies processes without a record: shims, and a daemon whose start was not yet recorded when up
// was killed.
const marker = "ETCDBENCH_CLUSTER"

// process identifies a process, even if its pid is reused.
type process struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// StartTicks is the start time in clock ticks since boot, field 22 of /proc/PID/stat.
	StartTicks uint64 `json:"startTicks"`
}

// identify reads the identity of a running process.
func identify(name string, pid int) (process, error) {
	st, err := readStat(pid)
	if err != nil {
		return process{}, err
	}
	if st.ended {
		return process{}, fmt.Errorf("process %d (%s) has ended", pid, name)
	}
	return process{Name: name, PID: pid, StartTicks: st.startTicks}, nil
}

// isAlive reports whether this very process runs. A later process with the same pid does not count, nor does a zombie.
func (p process) isAlive() bool {
	st, err := readStat(p.PID)
	return err == nil && st.startTicks == p.StartTicks && !st.ended
}

// signal sends s if the process still runs. os.FindProcess holds a pidfd, taken before the identity is checked, so the
// pid cannot pass to another process in between.
func (p process) signal(s syscall.Signal) {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return
	}
	defer handle.Release()
	if p.isAlive() {
		_ = handle.Signal(s) // the process may have ended in the meantime
	}
}

// endAll terminates the processes, kills those that still run after grace, and waits until all have ended.
func endAll(processes []process, grace time.Duration) error {
	for _, p := range processes {
		p.signal(syscall.SIGTERM)
	}
	if waitGone(processes, grace) == nil {
		return nil
	}
	for _, p := range processes {
		p.signal(syscall.SIGKILL)
	}
	return waitGone(processes, 10*time.Second)
}

// waitGone polls, because only a parent can wait for a process.
func waitGone(processes []process, timeout time.Duration) error {
	deadline := time.Now().Add(timeout)
	for {
		var left []string
		for _, p := range processes {
			if p.isAlive() {
				left = append(left, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
			}
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("still running: %s", strings.Join(left, ", "))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// marked returns the running processes that carry the marker of checkout.
func marked(checkout string) []process {
	want := []byte(marker + "=" + checkout + "\x00")
	var found []process
	for _, pid := range allPIDs() {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || !(bytes.HasPrefix(environment, want) || bytes.Contains(environment, append([]byte{0}, want...))) {
			continue // gone meanwhile, or not ours
		}
		if p, err := identify(commandName(pid), pid); err == nil {
			found = append(found, p)
		}
	}
	return found
}

func allPIDs() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func commandName(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(name))
}

// stat has the needed fields of /proc/PID/stat.
type stat struct {
	startTicks uint64
	// ended: no thread runs any more, and only the parent's wait is missing. A leader that is a zombie while other
	// threads still finish a system call has not ended.
	ended bool
}

func readStat(pid int) (stat, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(content))
}

// parseStat reads one line of /proc/PID/stat. The command in parentheses may contain blanks and parentheses, so fields
// are counted from the last closing parenthesis: the state is field 3, the number of threads 20 and the start time 22.
func parseStat(line string) (stat, error) {
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("%q is not a line of /proc/PID/stat", line)
	}
	fields := strings.Fields(line[end+1:])
	if len(fields) < 20 {
		return stat{}, fmt.Errorf("%q has %d fields after the command, want 20 or more", line, len(fields))
	}
	threads, err := strconv.Atoi(fields[17])
	if err != nil {
		return stat{}, err
	}
	startTicks, err := strconv.ParseUint(fields[19], 10, 64)
	return stat{startTicks: startTicks, ended: strings.Contains("ZX", fields[0]) && threads <= 1}, err
}

// removeIfExists removes a file or a tree, if it exists.
func removeIfExists(path string) error {
	if err := os.RemoveAll(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// widest is how many bytes of a log's line an error message has. etcd logs its whole configuration in one line.
const widest = 300

// lastLines returns at most n lines from the end of a log, shortened and indented, for an error message.
func lastLines(file string, n int) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Sprintf("  (no log: %v)", err)
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		if len(line) > widest {
			lines[i] = line[:widest] + "…"
		}
	}
	return "  " + filepath.Base(file) + ": " + strings.Join(lines, "\n  "+filepath.Base(file)+": ")
}
