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

// substitution puts a file of ours into a dependency, in the place of one of its
// own or beside them. `go build -overlay` could not: the go command forbids it
// below its module cache.
type substitution struct {
	// module is the path of the dependency, of which there is one substitution at
	// most, and file the name inside it.
	module, file string
	// source is the file of ours, in the folder of the tool's module.
	source string
}

// substitute copies the dependencies that t has files for, puts these in, and
// returns the go.mod to build t with; empty if t has none. The copies lie in
// a folder of their own, which the caller removes.
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
	for i, s := range t.substitutions {
		copied := filepath.Join(workshop, fmt.Sprint(i))
		if err := s.apply(ctx, dir, copied); err != nil {
			return "", fmt.Errorf("putting %s into %s: %w", s.source, s.module, err)
		}
		pinned = fmt.Appendf(pinned, "\nreplace %s => %s\n", s.module, copied)
	}
	modfile = filepath.Join(workshop, "go.mod")
	if err := os.WriteFile(modfile, pinned, 0o644); err != nil {
		return "", err
	}
	return modfile, copyFile(filepath.Join(dir, "go.sum"), filepath.Join(workshop, "go.sum"))
}

// workshop is where the copies of t's dependencies lie while it is built.
func (b builder) workshop(t tool) string { return filepath.Join(b.stamps(), t.name+".workshop") }

// apply copies the dependency of the module in dir, and puts the file in.
func (s substitution) apply(ctx context.Context, dir, copied string) error {
	original, err := moduleFolder(ctx, dir, s.module)
	if err != nil {
		return err
	}
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		return err
	}
	return copyFile(filepath.Join(dir, s.source), filepath.Join(copied, s.file))
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
