//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	// roomLeft is what a container may still allocate when its memory is exhausted. fills is more than that plus what
	// the kernel can reclaim.
	roomLeft = 4 << 20
	fills    = 64 << 20
)

// memoryGroup is the cgroup that limits a container's memory, with the file names of its cgroup version.
type memoryGroup struct{ dir, limit, usage string }

// memoryGroupOf returns the group of a process of this machine. If both versions are mounted, version 1 has the
// controller if it lists it.
func memoryGroupOf(pid int) (memoryGroup, error) {
	path := filepath.Join("/proc", strconv.Itoa(pid), "cgroup")
	content, err := os.ReadFile(path)
	if err != nil {
		return memoryGroup{}, err
	}
	var unified memoryGroup
	for line := range strings.Lines(string(content)) {
		switch fields := strings.SplitN(strings.TrimSpace(line), ":", 3); {
		case len(fields) != 3:
		case fields[1] == "memory":
			return memoryGroup{filepath.Join("/sys/fs/cgroup/memory", fields[2]), "memory.limit_in_bytes", "memory.usage_in_bytes"}, nil
		case fields[0] == "0":
			unified = memoryGroup{filepath.Join("/sys/fs/cgroup", fields[2]), "memory.max", "memory.current"}
		}
	}
	if unified.dir == "" {
		return memoryGroup{}, fmt.Errorf("%s: wanted a cgroup that limits memory, found %q", path, content)
	}
	return unified, nil
}

// exhaust leaves the group little room, and runs a process in the same group that allocates more. With version 2, a
// limit below the usage would do. Version 1 refuses such a limit, and kills only at the next allocation. pid is the
// process that the kernel should choose.
func (g memoryGroup) exhaust(pid int) error {
	content, err := os.ReadFile(filepath.Join(g.dir, g.usage))
	if err != nil {
		return err
	}
	used, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", g.usage, g.dir, err)
	}
	if err := os.WriteFile(filepath.Join("/proc", strconv.Itoa(pid), "oom_score_adj"), []byte("1000"), 0); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(g.dir, g.limit), []byte(strconv.FormatInt(used+roomLeft, 10)), 0); err != nil {
		return err
	}
	// tail keeps all of its input, because there is no end of a line. It may be killed too, so its exit status does not
	// matter.
	fill := fmt.Sprintf(`echo $$ > "$0/cgroup.procs" && head -c %d /dev/zero | tail > /dev/null`, fills)
	err = exec.CommandContext(suite.ctx, "sh", "-c", fill, g.dir).Run()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		return err
	}
	return nil
}

// exhaustMemory makes the kernel kill a client pod for its memory.
func exhaustMemory(index int) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		pid, err := processOf(clientPod(t, v, index).UID, "loadgen")
		if err != nil {
			t.Fatal(err)
		}
		group, err := memoryGroupOf(pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := group.exhaust(pid); err != nil {
			t.Fatal(err)
		}
		awaitOOM(t, v)
	}
}
