package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// aptPackages maps each Debian package that the cluster needs to a file that shows that it is installed.
var aptPackages = map[string]string{
	"buildah":                     "/usr/bin/buildah",
	"conntrack":                   "/usr/sbin/conntrack",
	"containerd":                  "/usr/bin/containerd",
	"containernetworking-plugins": cniPlugins + "/ptp",
	"iproute2":                    "/usr/bin/ip",
	"iptables":                    "/usr/sbin/iptables",
	"nftables":                    "/usr/sbin/nft",
	"runc":                        "/usr/sbin/runc",
}

// cniPlugins is where Debian installs the CNI plugins.
const cniPlugins = "/usr/lib/cni"

// enoughDisk is what images, logs and the members of a benchmark fill; the kubelet evicts pods below 200 MiB.
const enoughDisk = 1 << 30

// checkHost says everything that keeps a cluster from running here, so that a user need not find out one by one.
func checkHost(l layout) error {
	var problems []error
	if os.Geteuid() != 0 {
		problems = append(problems, errors.New("it needs root (mounts, network namespaces, cgroups): run it as root"))
	}
	if release, err := os.ReadFile("/etc/os-release"); err != nil || !isDebian(string(release)) {
		problems = append(problems, errors.New("it needs Debian or a descendant, because it installs containerd with apt-get: use kind or `make demo CLUSTER=current` elsewhere"))
	}
	if filesystems, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(filesystems), "\toverlay\n") {
		problems = append(problems, errors.New("it needs the overlay file system: `modprobe overlay` loads it where the kernel has it as a module"))
	}
	if len(cgroupHierarchies()) == 0 {
		problems = append(problems, errors.New("it needs cgroups mounted below /sys/fs/cgroup"))
	}
	for _, dir := range []string{l.checkout, filepath.Dir(libDir)} {
		var fs unix.Statfs_t
		if err := unix.Statfs(dir, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) < enoughDisk {
			problems = append(problems, fmt.Errorf("the file system of %s has %d MiB left, and a cluster needs %d MiB: make room, for example with `go clean -cache`", dir, fs.Bavail*uint64(fs.Bsize)>>20, enoughDisk>>20))
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("this host cannot run hack/cluster:\n%w", errors.Join(problems...))
	}
	return nil
}

// isDebian reads the content of /etc/os-release.
func isDebian(release string) bool {
	for line := range strings.Lines(release) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name != "ID" && name != "ID_LIKE" {
			continue
		}
		for word := range strings.FieldsSeq(strings.Trim(value, `"`)) {
			if word == "debian" {
				return true
			}
		}
	}
	return false
}

// installPackages installs what is missing and starts none of it. It claims the host meanwhile, so that down knows of an
// installation that was killed.
func installPackages(ctx context.Context, l layout, p *progress) error {
	var missing []string
	for name, file := range aptPackages {
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	p.say("installing with apt-get: %s", strings.Join(missing, " "))
	if _, err := claim(runDir, l.checkout); err != nil {
		return err
	}
	err := install(ctx, missing)
	return errors.Join(err, os.RemoveAll(runDir))
}

func install(ctx context.Context, packages []string) (err error) {
	if err := forbidServiceStarts(servicePolicyFile); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, allowServiceStarts(servicePolicyFile)) }()
	_ = aptGet(ctx, "update") // the lists that are there may do: the installation decides
	if err := aptGet(ctx, append([]string{"install", "--yes", "--no-install-recommends"}, packages...)...); err != nil {
		return err
	}
	return keepFromBooting(ctx, packages)
}

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}

const (
	// servicePolicyFile is what invoke-rc.d asks before it starts a service.
	servicePolicyFile = "/usr/sbin/policy-rc.d"
	// servicePolicy forbids every start. Its comment tells it from the policy of somebody else.
	servicePolicy = "#!/bin/sh\n# hack/cluster of etcd-benchmark-operator installs packages and starts no service of theirs.\nexit 101\n"
)

// forbidServiceStarts keeps packages from starting services: the cluster runs its own containerd, and the package's
// would be a second one. A policy that the host already has stays.
func forbidServiceStarts(policy string) error {
	// The file appears with its content, so that one of a killed installation is recognized.
	next := policy + ".etcdbench"
	if err := os.WriteFile(next, []byte(servicePolicy), 0o755); err != nil {
		return err
	}
	err := os.Link(next, policy)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(next))
}

// allowServiceStarts removes the policy if it is this program's.
func allowServiceStarts(policy string) error {
	if !forbidsServiceStarts(policy) {
		return nil
	}
	return removeIfExists(policy)
}

func forbidsServiceStarts(policy string) bool {
	content, err := os.ReadFile(policy)
	return err == nil && string(content) == servicePolicy
}

// keepFromBooting disables the containerd service if this installation brought it.
func keepFromBooting(ctx context.Context, installed []string) error {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil // systemd does not manage this host
	}
	for _, name := range installed {
		if name != "containerd" {
			continue
		}
		if _, err := run(ctx, "systemctl", "disable", "containerd.service"); err != nil {
			return err
		}
	}
	return nil
}

// run executes a short command and returns its standard output; the error holds what it printed to standard error.
func run(ctx context.Context, name string, args ...string) (string, error) {
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// ifInstalled takes the result of run. A program that is not installed has changed nothing: down may follow an
// installation that was killed.
func ifInstalled(output string, err error) (string, error) {
	if errors.Is(err, exec.ErrNotFound) {
		return "", nil
	}
	return output, err
}
