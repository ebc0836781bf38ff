package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// pom names the artifacts of a tool from Maven with their versions.
const pom = "pom.xml"

// fetchMaven makes a folder of the jars of a tool. Maven compares each with the checksum that its repository has.
func (b builder) fetchMaven(ctx context.Context, t tool) (err error) {
	project, err := os.ReadFile(filepath.Join(b.modules, t.maven, pom))
	if err != nil {
		return err
	}
	if b.isCurrent(t, string(project)) {
		return nil
	}
	fmt.Fprintf(b.progress, "tools: fetching %s with Maven\n", t.name)
	if _, err := exec.LookPath("mvn"); err != nil {
		return fmt.Errorf("fetching %s: found no mvn on the PATH: install it (`apt-get install maven` on Debian)", t.name)
	}
	dir, err := os.MkdirTemp(b.output, ".maven-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, pom), project, 0o644); err != nil {
		return err
	}
	jars := filepath.Join(dir, "jars")
	if _, err := runIn(ctx, dir, "mvn", "--batch-mode", "--quiet", "--strict-checksums", "dependency:copy-dependencies", "-DoutputDirectory="+jars); err != nil {
		return fmt.Errorf("fetching %s: %w", t.name, err)
	}
	target := filepath.Join(b.output, t.name)
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := os.Rename(jars, target); err != nil {
		return err
	}
	return os.WriteFile(b.stamp(t), project, 0o644)
}
