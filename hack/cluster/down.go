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
	"syscall"
	"time"
)

// sharedFolders lists folders outside the cluster's own in which its programs create things, because their place is
// compiled in. Those that did not exist before are removed with it, children before parents.
var sharedFolders = []string{
	"/run/containerd",
	"/run/containerd/s",
	"/run/mount",
	"/var/lib/cni",
	"/var/lib/cni/results",
	"/var/lib/kubelet",
	"/var/lib/kubelet/device-plugins",
	"/var/log/containers",
}

// missingFolders returns those that do not exist now.
func missingFolders() []string {
	var missing []string
	for _, folder := range sharedFolders {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, folder)
		}
	}
	return missing
}

// down ends the cluster and puts the host back. It goes on after a failure, so that as little as possible is left, and
// says at the end what is. Calling it again is safe.
func down(ctx context.Context, l layout, p *progress) error {
	j, err := owned(runDir, l.checkout)
	if err != nil {
		return err
	}
	if j == nil && !hasRemains(l) {
		p.say("nothing to take down")
		return nil
	}
	if j == nil {
		j = &journal{Checkout: l.checkout}
	}
	d := demolition{layout: layout{checkout: j.Checkout}, journal: j}
	if err := d.finish(ctx, goneWithin); err != nil {
		return err
	}
	// Last: as long as the journal exists, down can be repeated.
	if err := os.RemoveAll(runDir); err != nil {
		return err
	}
	p.say("down: nothing of the cluster is left on this host")
	return nil
}

// hasRemains tells whether there is something to take down although the journal is gone.
func hasRemains(l layout) bool {
	_, err := os.Stat(runDir)
	return err == nil || len(marked(l.checkout)) > 0 || forbidsServiceStarts(servicePolicyFile)
}

// goneWithin bounds how long down waits for the kernel, which ends processes and network namespaces in the background. A
// pod's network namespace has taken more than ten seconds.
const goneWithin = 2 * time.Minute

// demolition takes one cluster down. Its layout is the owner's, which may be a checkout that no longer exists.
type demolition struct {
	layout  layout
	journal *journal
}

// finish repeats all steps until nothing is left, and says what is left when the time is over.
func (d demolition) finish(ctx context.Context, within time.Duration) error {
	return untilGone(ctx, within, func(ctx context.Context) ([]string, error) {
		err := errors.Join(d.endProcesses(), d.restoreHost(ctx), d.removeFolders())
		return leftovers(ctx, d.layout), err
	})
}

// untilGone calls attempt, which takes things down and returns what is left, until nothing is. An attempt is never cut
// off by the time limit: it could not say what is left.
func untilGone(ctx context.Context, within time.Duration, attempt func(context.Context) ([]string, error)) error {
	var left []string
	var failed error
	_ = poll(ctx, within, func(context.Context) error {
		if left, failed = attempt(ctx); len(left) > 0 {
			return fmt.Errorf("%d things are left", len(left))
		}
		return failed
	})
	if len(left) > 0 {
		failed = errors.Join(fmt.Errorf("this is left of the cluster:\n  %s", strings.Join(left, "\n  ")), failed)
	}
	return failed
}

// endProcesses ends what would start other things first, then the pods, and the store that all depend on last.
func (d demolition) endProcesses() error {
	return errors.Join(
		endAll(d.recorded("kubelet", "kube-proxy", "kube-scheduler", "kube-controller-manager"), 5*time.Second),
		kill(contained()),
		endAll(d.recorded("containerd"), 5*time.Second),
		endAll(d.recorded("kube-apiserver", "etcd"), 3*time.Second),
		// Shims, and whatever a crash kept from being recorded. A shim's pod may have forked once more meanwhile.
		kill(marked(d.layout.checkout)),
		kill(contained()),
	)
}

// recorded returns the processes of these names that the journal knows and that still run.
func (d demolition) recorded(names ...string) []process {
	var found []process
	for _, p := range d.journal.Processes {
		if slices.Contains(names, p.Name) && d.sameBoot() {
			found = append(found, p)
		}
	}
	return found
}

// sameBoot guards against a pid and a start time that come again after a restart of the host.
func (d demolition) sameBoot() bool {
	id, err := bootID()
	return err == nil && id == d.journal.BootID
}

func kill(processes []process) error {
	for _, p := range processes {
		p.signal(syscall.SIGKILL)
	}
	return waitGone(processes, 10*time.Second)
}

// restoreHost undoes mounts, cgroups, network and kernel settings.
func (d demolition) restoreHost(ctx context.Context) error {
	sysctls := d.journal.Sysctls
	if !d.sameBoot() {
		sysctls = nil // a restart has reset them, and somebody may have set them since
	}
	return errors.Join(
		unmountBelow(d.ownFolders()...),
		removeCgroups(),
		disconnectNode(ctx),
		restoreSysctls(sysctls),
		allowServiceStarts(servicePolicyFile),
	)
}

func (d demolition) ownFolders() []string {
	return []string{runDir, libDir, d.layout.path()}
}

// removeFolders removes the cluster's data and keeps what the next up can use: image archives, and logs to look at.
func (d demolition) removeFolders() error {
	points, err := mountsBelow(d.ownFolders()...)
	if err != nil {
		return err
	}
	if len(points) > 0 { // removing would go through to what is mounted there
		return fmt.Errorf("still mounted: %s", strings.Join(points, ", "))
	}
	own := []string{libDir}
	for _, name := range []string{"etcd", "containerd", "pki", "kubeconfig"} {
		own = append(own, d.layout.path(name))
	}
	for _, path := range own {
		if err := removeIfExists(path); err != nil {
			return err
		}
	}
	return d.cleanSharedFolders()
}

// cleanSharedFolders removes our entries from folders that other programs may use too, and then the folders that the
// cluster brought, if they are empty.
func (d demolition) cleanSharedFolders() error {
	removeDeadSockets("/run/containerd/s")
	removeFilesNaming("/var/lib/cni/results/*", runDir+"/") // results name the sandbox's network namespace
	removeLinksInto("/var/log/containers", libDir)
	for _, folder := range slices.Backward(d.journal.Created) {
		if folder == "/var/lib/kubelet/device-plugins" {
			removeMatches(folder + "/*") // it came with our kubelet, so did its content
		}
		err := os.Remove(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	return nil
}

// removeDeadSockets removes sockets without a listener; killed shims leave theirs, under names that are hashes.
func removeDeadSockets(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if entry.Type() == fs.ModeSocket && !isListenedOn(path) {
			_ = os.Remove(path)
		}
	}
}

func removeMatches(pattern string) {
	matches, _ := filepath.Glob(pattern)
	for _, match := range matches {
		_ = os.RemoveAll(match)
	}
}

// removeFilesNaming removes the files whose content holds text.
func removeFilesNaming(pattern, text string) {
	files, _ := filepath.Glob(pattern)
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil && strings.Contains(string(content), text) {
			_ = os.Remove(file)
		}
	}
}

// removeLinksInto removes symbolic links that lead into target.
func removeLinksInto(folder, target string) {
	links, _ := filepath.Glob(folder + "/*")
	for _, link := range links {
		if destination, err := os.Readlink(link); err == nil && isBelow(destination, target) {
			_ = os.Remove(link)
		}
	}
}
