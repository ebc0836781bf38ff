package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/sys/mountinfo"
)

// All pods live below one cgroup of the cluster. So their processes can be identified even when containerd and its
// shims are dead.

// cgroupHierarchies returns the mount points of all hierarchies: one with cgroup v2, one per controller with v1.
func cgroupHierarchies() []string {
	mounts, _ := mountinfo.GetMounts(mountinfo.PrefixFilter("/sys/fs/cgroup"))
	var points []string
	for _, m := range mounts {
		if strings.HasPrefix(m.FSType, "cgroup") {
			points = append(points, m.Mountpoint)
		}
	}
	return points
}

// createCgroups creates the cluster's cgroup in every hierarchy.
func createCgroups() error {
	for _, hierarchy := range cgroupHierarchies() {
		dir := filepath.Join(hierarchy, cgroupName)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := delegate(hierarchy, dir); err != nil {
			return err
		}
	}
	return nil
}

// delegate enables the controllers of the hierarchy for children of dir. With v2, controllers are enabled level by
// level. With v1, a new cpuset is empty, and no process could enter it.
func delegate(hierarchy, dir string) error {
	controllers, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err == nil {
		for controller := range strings.FieldsSeq(string(controllers)) {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644); err != nil {
				return fmt.Errorf("enabling %s below %s: %w", controller, dir, err)
			}
		}
		return nil
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(hierarchy, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// clusterCgroups returns every cgroup of the cluster, parents before children.
func clusterCgroups() []string {
	var dirs []string
	for _, hierarchy := range cgroupHierarchies() {
		// Cgroups come and go during the walk; errors about vanished ones are ignored.
		_ = filepath.WalkDir(filepath.Join(hierarchy, cgroupName), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
	}
	return dirs
}

// contained returns the running processes of all pods.
func contained() []process {
	pids := map[int]bool{}
	for _, dir := range clusterCgroups() {
		content, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				pids[pid] = true
			}
		}
	}
	var found []process
	for pid := range pids {
		if p, err := identify(commandName(pid), pid); err == nil {
			found = append(found, p)
		}
	}
	return found
}

// removeCgroups removes them from the leaves up. The kernel releases a cgroup a moment after its last process has
// ended.
func removeCgroups() error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		var last error
		dirs := clusterCgroups()
		for _, dir := range slices.Backward(dirs) {
			if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				last = err
			}
		}
		if last == nil || time.Now().After(deadline) {
			return last
		}
		time.Sleep(50 * time.Millisecond)
	}
}
