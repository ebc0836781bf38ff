package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// linkerFlags returns the -ldflags of t, whose module lies in dir.
func linkerFlags(t tool, dir string) (string, error) {
	flags := []string{"-s", "-w"}
	if len(t.stamped) == 0 {
		return strings.Join(flags, " "), nil
	}
	version, err := pinnedVersion(filepath.Join(dir, "go.mod"), t.stampedFrom)
	if err != nil {
		return "", err
	}
	for _, variable := range t.stamped {
		flags = append(flags, "-X", variable+"="+version)
	}
	return strings.Join(flags, " "), nil
}

// pinnedVersion returns the version at which the go.mod file requires module.
func pinnedVersion(file, module string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("%s does not require %s: add it with `go get -tool`", file, module)
}

// inputsDigest identifies everything that decides the bytes of t: toolchain, platform, pinned modules, own sources,
// substitutions and linker flags.
func inputsDigest(t tool, dir, flags string) (string, error) {
	digest := sha256.New()
	fmt.Fprintln(digest, runtime.Version(), runtime.GOOS, runtime.GOARCH, t.pkg, flags)
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	for _, s := range t.substitutions {
		fmt.Fprintln(digest, s.module, s.file, s.call)
		sources = append(sources, filepath.Join(dir, s.source))
	}
	for _, file := range append(sources, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")) {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(digest, filepath.Base(file), len(content))
		digest.Write(content)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}
