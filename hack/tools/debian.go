package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fetch extracts a program from Debian packages. They are downloaded but not installed: this needs no root, and nothing
// starts. The download happens once; the version is that of the host's package sources.
func (b builder) fetch(ctx context.Context, t tool) (err error) {
	packages := strings.Join(t.debian, " ")
	stamp := packages + " " + t.file
	if b.isCurrent(t, stamp) {
		return nil
	}
	fmt.Fprintf(b.progress, "tools: fetching %s from Debian: %s\n", t.name, packages)
	dir, err := os.MkdirTemp(b.output, ".debian-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root := filepath.Join(dir, "root")
	if err := unpack(ctx, t.debian, dir, root); err != nil {
		return fmt.Errorf("fetching %s, which needs a Debian host, and root or current package lists (`apt-get update`): %w", t.name, err)
	}
	program := filepath.Join(b.output, t.name)
	if err := os.RemoveAll(program); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(root, t.file), program); err != nil {
		return err
	}
	return os.WriteFile(b.stamp(t), []byte(stamp), 0o644)
}

// unpack downloads packages into dir and extracts their files under root.
func unpack(ctx context.Context, packages []string, dir, root string) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	if err := download(ctx, dir, packages); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(found) != len(packages) {
		return errors.Join(err, fmt.Errorf("wanted %d packages, found %q", len(packages), found))
	}
	for _, archive := range found {
		if err := runIn(ctx, root, "dpkg-deb", "--extract", archive, "."); err != nil {
			return err
		}
	}
	return nil
}

// download downloads packages into dir. If that fails, and as root, it updates the package lists
// and tries again.
func download(ctx context.Context, dir string, packages []string) error {
	args := append([]string{"--quiet", "download"}, packages...)
	err := runIn(ctx, dir, "apt-get", args...)
	if err == nil || os.Geteuid() != 0 {
		return err
	}
	if uerr := runIn(ctx, dir, "apt-get", "--quiet", "update"); uerr != nil {
		return errors.Join(err, uerr)
	}
	return runIn(ctx, dir, "apt-get", args...)
}

func runIn(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, lastLines(output, 20))
	}
	return nil
}
