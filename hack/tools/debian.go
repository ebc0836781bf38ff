package main

import (
	"bytes"
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
	if len(t.without) > 0 {
		stamp += " without " + strings.Join(t.without, " ")
	}
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
	if err := unpack(ctx, t, dir, root); err != nil {
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

// unpack downloads the packages of t into dir and extracts their files under root.
func unpack(ctx context.Context, t tool, dir, root string) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	packages, err := download(ctx, t, dir)
	if err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(found) != len(packages) {
		return errors.Join(err, fmt.Errorf("wanted the packages %q, found %q", packages, found))
	}
	for _, archive := range found {
		if _, err := runIn(ctx, root, "dpkg-deb", "--extract", archive, "."); err != nil {
			return err
		}
	}
	return nil
}

// download downloads the packages of t into dir. If that fails, and as root, it updates the package lists and tries
// again.
func download(ctx context.Context, t tool, dir string) (packages []string, err error) {
	packages, err = downloadOnce(ctx, t, dir)
	if err == nil || os.Geteuid() != 0 {
		return packages, err
	}
	if _, uerr := runIn(ctx, dir, "apt-get", "--quiet", "update"); uerr != nil {
		return nil, errors.Join(err, uerr)
	}
	return downloadOnce(ctx, t, dir)
}

func downloadOnce(ctx context.Context, t tool, dir string) (packages []string, err error) {
	packages = t.debian
	if len(t.without) > 0 {
		if packages, err = withDependencies(ctx, t, dir); err != nil {
			return nil, err
		}
	}
	_, err = runIn(ctx, dir, "apt-get", append([]string{"--quiet", "download"}, packages...)...)
	return packages, err
}

// withDependencies returns the packages of t and all that they depend on, whatever this host has installed. apt-get is
// told that only t.without is installed, in a version that satisfies everybody.
func withDependencies(ctx context.Context, t tool, dir string) (packages []string, err error) {
	architecture, err := runIn(ctx, dir, "dpkg", "--print-architecture")
	if err != nil {
		return nil, err
	}
	var installed strings.Builder
	for _, name := range t.without {
		fmt.Fprintf(&installed, "Package: %s\nStatus: install ok installed\nArchitecture: %s\nVersion: 999999\nMaintainer: none\nDescription: none\n\n",
			name, strings.TrimSpace(architecture))
	}
	status := filepath.Join(dir, "status")
	if err := os.WriteFile(status, []byte(installed.String()), 0o644); err != nil {
		return nil, err
	}
	answer, err := runIn(ctx, dir, "apt-get", append([]string{
		"--quiet", "--quiet", "--simulate", "--no-install-recommends", "--option", "Dir::State::status=" + status, "install",
	}, t.debian...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(answer) {
		// Such a line is: Inst NAME (VERSION ORIGIN [ARCHITECTURE])
		if words := strings.Fields(line); len(words) > 1 && words[0] == "Inst" {
			packages = append(packages, words[1])
		}
	}
	if len(packages) < len(t.debian) {
		return nil, fmt.Errorf("wanted the packages that %q depend on, found %q in the answer of apt-get:\n%s", t.debian, packages, lastLines([]byte(answer), 20))
	}
	return packages, nil
}

// runIn runs a program in dir and returns what it prints.
func runIn(ctx context.Context, dir, program string, args ...string) (string, error) {
	var output, problem bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Stdout, cmd.Stderr = &output, &problem
	if err := cmd.Run(); err != nil {
		all := append(output.Bytes(), problem.Bytes()...)
		return "", fmt.Errorf("%s: %w\n%s", program, err, lastLines(all, 20))
	}
	return output.String(), nil
}
