package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// substitution adds a file of this repository to a dependency, or replaces one of its files. `go build -overlay` cannot
// do this: the go command forbids it below its module cache.
type substitution struct {
	// module is the path of the dependency, and file the name in it.
	module, file string
	// source is this repository's file, in the folder of the tool's module.
	source string
	// call, if it has a file, is where the dependency calls the code of source.
	call call
}

// call inserts one line into a file of a dependency.
type call struct {
	// file is the name inside the dependency.
	file string
	// behind is a text that must occur exactly once in the file, so that another version of the file causes an error.
	// line is inserted below it.
	behind, line string
}

// substitute copies the dependencies that t's substitutions change, changes them, and returns the go.mod to build t
// with; empty if t has none. The copies lie in a separate folder, which the caller removes.
func (b builder) substitute(ctx context.Context, t tool, dir string) (modfile string, err error) {
	if len(t.substitutions) == 0 {
		return "", nil
	}
	workshop := b.workshop(t)
	if err := os.MkdirAll(workshop, 0o755); err != nil {
		return "", err
	}
	pinned, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	copies := map[string]string{}
	for i, s := range t.substitutions {
		if copies[s.module] == "" {
			copied := filepath.Join(workshop, fmt.Sprint(i))
			if err := copyDependency(ctx, dir, s.module, copied); err != nil {
				return "", err
			}
			copies[s.module] = copied
			pinned = fmt.Appendf(pinned, "\nreplace %s => %s\n", s.module, copied)
		}
		if err := s.apply(dir, copies[s.module]); err != nil {
			return "", fmt.Errorf("putting %s into %s: %w", s.source, s.module, err)
		}
	}
	modfile = filepath.Join(workshop, "go.mod")
	if err := os.WriteFile(modfile, pinned, 0o644); err != nil {
		return "", err
	}
	return modfile, copyFile(filepath.Join(dir, "go.sum"), filepath.Join(workshop, "go.sum"))
}

// workshop is the folder for copies of t's dependencies during a build.
func (b builder) workshop(t tool) string { return filepath.Join(b.stamps(), t.name+".workshop") }

// copyDependency copies a dependency of the module in dir.
func copyDependency(ctx context.Context, dir, module, copied string) error {
	original, err := moduleFolder(ctx, dir, module)
	if err != nil {
		return err
	}
	return os.CopyFS(copied, os.DirFS(original))
}

// apply writes the file into a copy of the dependency.
func (s substitution) apply(dir, copied string) error {
	if err := copyFile(filepath.Join(dir, s.source), filepath.Join(copied, s.file)); err != nil || s.call.file == "" {
		return err
	}
	return s.call.insert(filepath.Join(copied, s.call.file))
}

func (c call) insert(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := bytes.Count(content, []byte(c.behind)); n != 1 {
		return fmt.Errorf("wanted %q once in %s, found it %d times: find the place where this version must call %q", c.behind, c.file, n, c.line)
	}
	changed := bytes.Replace(content, []byte(c.behind), []byte(c.behind+"\n"+c.line+"\n"), 1)
	return os.WriteFile(file, changed, 0o644)
}

// moduleFolder returns where the go command keeps a dependency of the module in
// dir, at the version that is pinned there.
func moduleFolder(ctx context.Context, dir, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	answer, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("downloading %s: %w\n%s%s", module, err, answer, lastLines(problem.Bytes(), 20))
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(answer, &found); err != nil {
		return "", fmt.Errorf("downloading %s: %w in %q", module, err, answer)
	}
	if found.Dir == "" {
		return "", fmt.Errorf("downloading %s: wanted its folder, found none in %q", module, answer)
	}
	return found.Dir, nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}
