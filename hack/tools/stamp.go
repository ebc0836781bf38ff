package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/sumdb/dirhash"
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
	parsed, err := modfile.ParseLax(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, required := range parsed.Require {
		if required.Mod.Path == module {
			return required.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s does not require %s: add it with `go get -tool`", file, module)
}

// inputsDigest identifies all inputs of t's binary: toolchain, platform, pinned modules, own sources, substitutions,
// build tags and linker flags.
func inputsDigest(t tool, dir, flags string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	files = append(files, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum"))
	for _, s := range t.substitutions {
		files = append(files, filepath.Join(dir, s.source))
	}
	contents, err := dirhash.Hash1(files, func(name string) (io.ReadCloser, error) { return os.Open(name) })
	return fmt.Sprintln(runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(append([]string{t.pkg}, t.tags...), " "), flags, t.substitutions, contents), err
}
