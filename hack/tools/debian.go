package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// fetch takes a program out of a Debian package, which is downloaded and not installed: no root is needed, and nothing
// starts. It is fetched once; the version is that of the host's sources.
func (b builder) fetch(ctx context.Context, t tool) (err error) {
	if b.isCurrent(t, t.debian) {
		return nil
	}
	fmt.Fprintf(b.progress, "tools: fetching %s from the Debian package %s\n", t.name, t.debian)
	dir, err := os.MkdirTemp(b.output, ".debian-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := unpack(ctx, t.debian, dir); err != nil {
		return fmt.Errorf("fetching %s, which needs a Debian host, and root or the lists that `apt-get update` brings: %w", t.name, err)
	}
	if err := os.Rename(filepath.Join(dir, t.file), filepath.Join(b.output, t.name)); err != nil {
		return err
	}
	return os.WriteFile(b.stamp(t), []byte(t.debian), 0o644)
}

// unpack puts the files of a package under dir.
func unpack(ctx context.Context, name, dir string) error {
	if err := download(ctx, dir, name); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(found) != 1 {
		return errors.Join(err, fmt.Errorf("wanted one package, found %q", found))
	}
	return runIn(ctx, dir, "dpkg-deb", "--extract", found[0], ".")
}

// download brings a package into dir. A host that knows of no packages yet is told, if
// that is allowed.
func download(ctx context.Context, dir, name string) error {
	err := runIn(ctx, dir, "apt-get", "--quiet", "download", name)
	if err == nil || os.Geteuid() != 0 {
		return err
	}
	if uerr := runIn(ctx, dir, "apt-get", "--quiet", "update"); uerr != nil {
		return errors.Join(err, uerr)
	}
	return runIn(ctx, dir, "apt-get", "--quiet", "download", name)
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
