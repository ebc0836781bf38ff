package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
)

// snapshot describes the parts of the host that the cluster changes, one line per item, sorted.
func snapshot(ctx context.Context) ([]string, error) {
	commands := []string{
		"ip -o -brief link show",
		"ip -o -brief address show",
		"ip -o route show table all",
		"ip -6 -o route show table all",
		"ip rule show",
		"ip netns list",
		"nft list ruleset",
		"iptables-save",
		"ip6tables-save",
	}
	var lines []string
	for _, command := range commands {
		fields := strings.Fields(command)
		output, err := run(ctx, fields[0], fields[1:]...)
		if err != nil {
			return nil, err
		}
		for _, line := range nonEmptyLines(output) {
			if !strings.HasPrefix(line, "#") { // iptables-save dates its output
				lines = append(lines, command+": "+line)
			}
		}
	}
	mounts, err := mountinfo.GetMounts(nil)
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		lines = append(lines, "mount: "+m.Mountpoint+" "+m.FSType)
	}
	lines = append(lines, kernelSettings()...)
	lines = append(lines, folders()...)
	slices.Sort(lines)
	return lines, nil
}

// kernelSettings returns every setting below the folders that Kubernetes writes to, except measured values, which
// change by themselves.
func kernelSettings() []string {
	var lines []string
	for _, root := range []string{"/proc/sys/net", "/proc/sys/vm", "/proc/sys/kernel"} {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || slices.Contains(volatileSettings, path) {
				return nil
			}
			if value, err := os.ReadFile(path); err == nil {
				lines = append(lines, "sysctl: "+path+" "+strings.TrimSpace(string(value)))
			}
			return nil
		})
	}
	return lines
}

var volatileSettings = []string{
	"/proc/sys/kernel/ns_last_pid",
	"/proc/sys/kernel/pty/nr",
	"/proc/sys/kernel/random/entropy_avail",
	"/proc/sys/kernel/random/uuid",
	"/proc/sys/net/netfilter/nf_conntrack_count",
}

// folders lists the folders where daemons leave files, two levels deep.
func folders() []string {
	var lines []string
	for _, pattern := range []string{"/etc/*", "/etc/*/*", "/opt/*", "/run/*", "/run/*/*", "/var/lib/*", "/var/lib/*/*", "/var/log/*", "/usr/libexec/*", "/sys/fs/cgroup/*/*"} {
		matches, _ := filepath.Glob(pattern)
		for _, match := range matches {
			lines = append(lines, "path: "+match)
		}
	}
	return lines
}

// verifyClean starts a cluster, takes it down, and compares the host before and after.
func verifyClean(ctx context.Context, l layout, p *progress) error {
	if j, err := owned(runDir, l.checkout); err != nil || j != nil {
		return errors.Join(err, errors.New("a cluster is up: run `go run ./hack/cluster down` first, so that the host can be compared"))
	}
	if err := prepare(ctx, l, p); err != nil { // packages stay, so they are no difference
		return err
	}
	before, err := snapshot(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(exercise(ctx, l, p), down(ctx, l, p)); err != nil {
		return err
	}
	after, err := snapshot(ctx)
	if err != nil {
		return err
	}
	lines := slices.Concat(without("- ", before, after), without("+ ", after, before))
	if len(lines) > 0 {
		return fmt.Errorf("the host differs (- before, + after):\n%s", strings.Join(lines, "\n"))
	}
	p.say("clean: %d things compared, all as before", len(after))
	return nil
}

// exercise starts the cluster and runs pods with volumes and Services on it, because an idle cluster leaves less
// behind.
func exercise(ctx context.Context, l layout, p *progress) error {
	if err := start(ctx, l, p); err != nil {
		return err
	}
	if _, err := kubectl(ctx, l, "apply", "--filename="+filepath.Join(l.checkout, "hack", "manifests", "etcd.yaml")); err != nil {
		return err
	}
	if _, err := kubectl(ctx, l, "rollout", "status", "statefulset/etcd", "--timeout="+addonTimeout.String()); err != nil {
		return err
	}
	p.say("pods ran")
	return nil
}

// without returns, marked, the lines that others do not have.
func without(mark string, lines, others []string) []string {
	var out []string
	for _, line := range lines {
		if !slices.Contains(others, line) {
			out = append(out, mark+line)
		}
	}
	return out
}
