package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// fetchNPM extracts a file from an npm package. npm only downloads the package: nothing is installed, and none of its
// scripts runs.
func (b builder) fetchNPM(ctx context.Context, t tool) (err error) {
	stamp := t.npm + " " + t.file + " " + t.integrity
	if b.isCurrent(t, stamp) {
		return nil
	}
	fmt.Fprintf(b.progress, "tools: fetching %s from npm: %s\n", t.name, t.npm)
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("fetching %s: found no npm on the PATH: install it (`apt-get install npm` on Debian)", t.name)
	}
	dir, err := os.MkdirTemp(b.output, ".npm-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	content, err := packed(ctx, t, dir)
	if err != nil {
		return fmt.Errorf("fetching %s: %w", t.name, err)
	}
	program := filepath.Join(b.output, t.name)
	if err := os.WriteFile(program+".new", content, 0o644); err != nil {
		return err
	}
	if err := os.Rename(program+".new", program); err != nil {
		return err
	}
	return os.WriteFile(b.stamp(t), []byte(stamp), 0o644)
}

// packed downloads the package of t into dir, compares it with its pinned digest, and returns the file of t.
func packed(ctx context.Context, t tool, dir string) ([]byte, error) {
	if _, err := runIn(ctx, dir, "npm", "pack", "--silent", "--ignore-scripts", t.npm); err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(found) != 1 {
		return nil, errors.Join(err, fmt.Errorf("wanted one package, found %q", found))
	}
	archive, err := os.ReadFile(found[0])
	if err != nil {
		return nil, err
	}
	sum := sha512.Sum512(archive)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != t.integrity {
		return nil, fmt.Errorf("wanted the package %s with the digest %s, found %s: somebody has changed it; do not use it", t.npm, t.integrity, got)
	}
	return fileOf(archive, "package/"+t.file)
}

// fileOf returns a file of a compressed tar archive.
func fileOf(archive []byte, name string) ([]byte, error) {
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("reading the package: %w", err)
	}
	for files := tar.NewReader(plain); ; {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("looking for %s in the package: %w", name, err)
		}
		if header.Name == name {
			return io.ReadAll(files)
		}
	}
}
