package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const before, after = " 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 ", " 19 424242 21 22"
	cases := map[string]struct {
		line      string
		want      stat
		wantError bool
	}{
		"sleeping":                       {line: "7 (etcd) S" + before + "9" + after, want: stat{startTicks: 424242}},
		"name with blanks and brackets":  {line: "7 (a b) (c) d) S" + before + "1" + after, want: stat{startTicks: 424242}},
		"zombie":                         {line: "7 (etcd) Z" + before + "1" + after, want: stat{startTicks: 424242, ended: true}},
		"zombie whose threads still run": {line: "7 (etcd) Z" + before + "2" + after, want: stat{startTicks: 424242}},
		"no name":                        {line: "7 S 1 2", wantError: true},
		"too short":                      {line: "7 (etcd) S 1 2", wantError: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(tc.line)
			if (err != nil) != tc.wantError {
				t.Fatalf("error = %v, want one: %v", err, tc.wantError)
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestReusedPIDIsNotSignalled(t *testing.T) {
	alive := startSleeper(t, nil)
	earlier := alive
	earlier.StartTicks--
	if earlier.isAlive() {
		t.Error("a process that started at another time counts as the recorded one")
	}
	if err := endAll([]process{earlier}, 0); err != nil {
		t.Errorf("ending a process that is long gone: %v", err)
	}
	if !alive.isAlive() {
		t.Error("the process that now has the pid was ended")
	}
}

func TestEndAllKillsProcessesThatDoNotTerminate(t *testing.T) {
	polite := startSleeper(t, nil)
	stubborn := startShell(t, `trap "" TERM; echo ready; while :; do sleep 1000; done`)
	if err := endAll([]process{polite, stubborn}, 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for _, p := range []process{polite, stubborn} {
		if p.isAlive() {
			t.Errorf("%s still runs", p.Name)
		}
	}
}

func TestMarkedFindsOnlyTheOwnCheckout(t *testing.T) {
	checkout := filepath.Join(t.TempDir(), "checkout")
	ours := startSleeper(t, []string{"A=b", marker + "=" + checkout, "C=d"})
	startSleeper(t, []string{marker + "=" + checkout + "2"})
	startSleeper(t, []string{"X" + marker + "=" + checkout})

	found := marked(checkout)
	if len(found) != 1 || found[0].PID != ours.PID {
		t.Errorf("found %+v, want only pid %d", found, ours.PID)
	}
}

func TestZombieCountsAsEnded(t *testing.T) {
	cmd := exec.Command("/bin/true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	// The kernel keeps an ended child as a zombie until Wait.
	const exitedButKept = 0x4 | 0x01000000 // WEXITED | WNOWAIT
	if _, _, errno := syscall.Syscall6(syscall.SYS_WAITID, 1 /* P_PID */, uintptr(cmd.Process.Pid), 0, exitedButKept, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	if p, err := identify("true", cmd.Process.Pid); err == nil {
		t.Errorf("identified the zombie as %+v, want an error", p)
	}
}

// startSleeper starts a process that sleeps until the test ends. Its parent reaps it, as init does for daemons.
func startSleeper(t *testing.T, environment []string) process {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "1000")
	cmd.Env = environment
	return adopt(t, cmd)
}

// startShell starts a shell script and returns once it printed its first line.
func startShell(t *testing.T, script string) process {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	p := adopt(t, cmd)
	write.Close()
	if _, err := read.Read(make([]byte, 16)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-p.PID, syscall.SIGKILL); read.Close() }) // the shell's own child too
	return p
}

func adopt(t *testing.T, cmd *exec.Cmd) process {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() { _ = cmd.Wait(); close(reaped) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-reaped })
	p, err := identify(filepath.Base(cmd.Path), cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestJournalSurvivesARoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	j, err := claim(dir, "/checkout")
	if err != nil {
		t.Fatal(err)
	}
	j.Sysctls = map[string]string{"net/ipv4/ip_forward": "0"}
	j.Processes = append(j.Processes, process{Name: "etcd", PID: 7, StartTicks: 9})
	if err := j.write(); err != nil {
		t.Fatal(err)
	}
	read, err := owned(dir, "/checkout")
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := read.process("etcd"); !ok || p.PID != 7 || p.StartTicks != 9 {
		t.Errorf("etcd is recorded as %+v, %v", p, ok)
	}
	if read.Sysctls["net/ipv4/ip_forward"] != "0" {
		t.Errorf("settings = %v", read.Sysctls)
	}
}

func TestOwnership(t *testing.T) {
	parent := t.TempDir()
	dir, living, gone := filepath.Join(parent, "run"), filepath.Join(parent, "living"), filepath.Join(parent, "gone")
	if err := os.Mkdir(living, 0o755); err != nil {
		t.Fatal(err)
	}
	if j, err := owned(dir, living); j != nil || err != nil {
		t.Errorf("without a cluster: %v, %v, want nothing", j, err)
	}
	if _, err := claim(dir, living); err != nil {
		t.Fatal(err)
	}
	if _, err := claim(dir, gone); err == nil {
		t.Error("a second claim succeeded")
	}
	if entries, _ := os.ReadDir(parent); len(entries) != 2 {
		t.Errorf("the refused claim left something: %v", entries)
	}
	if j, err := owned(dir, living); j == nil || err != nil {
		t.Errorf("for the owner: %v, %v, want its journal", j, err)
	}
	if j, err := owned(dir, gone); j != nil || err == nil {
		t.Errorf("for another checkout: %v, %v, want a refusal", j, err)
	}
	if err := os.Remove(living); err != nil {
		t.Fatal(err)
	}
	if j, err := owned(dir, gone); j == nil || err != nil {
		t.Errorf("after the owner's checkout is gone: %v, %v, want its journal", j, err)
	}
}

func TestAnotherCheckoutsDeadClusterMayBeManaged(t *testing.T) {
	dir, owner := filepath.Join(t.TempDir(), "run"), t.TempDir()
	j, err := claim(dir, owner)
	if err != nil {
		t.Fatal(err)
	}
	ended := process{Name: "etcd", PID: os.Getpid(), StartTicks: 1}
	for _, tc := range []struct {
		name      string
		processes []process
		refused   bool
	}{
		{"one is left", append(slices.Clone(j.Processes), ended), true},
		{"all have ended", []process{ended}, false},
	} {
		j.Processes = tc.processes
		if err := j.write(); err != nil {
			t.Fatal(err)
		}
		if read, err := owned(dir, "/another"); (err != nil) != tc.refused || (read == nil) != tc.refused {
			t.Errorf("%s: %v, %v; wanted a refusal: %v", tc.name, read, err, tc.refused)
		}
	}
}

func TestRecordedIgnoresAnEarlierBoot(t *testing.T) {
	id, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{BootID: id, Processes: []process{{Name: "etcd", PID: 1}, {Name: "kubelet", PID: 2}}}
	names := func() (names []string) {
		for _, p := range (demolition{journal: j}).recorded("kubelet", "no-such") {
			names = append(names, p.Name)
		}
		return names
	}
	if got := names(); !slices.Equal(got, []string{"kubelet"}) {
		t.Errorf("recorded = %v, want the kubelet", got)
	}
	j.BootID = "another"
	if got := names(); got != nil {
		t.Errorf("recorded of another boot = %v, want none", got)
	}
}
