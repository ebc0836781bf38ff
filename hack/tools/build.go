package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// builder builds tools into one folder.
type builder struct {
	// modules is the folder that holds one module per tool family; output receives the binaries.
	modules, output string
	progress        io.Writer
}

// build makes every tool of the list current. Only one process at a time builds into a folder; a second one waits.
func (b builder) build(ctx context.Context, tools []tool) error {
	if err := os.MkdirAll(b.stamps(), 0o755); err != nil {
		return err
	}
	lock, err := b.lock()
	if err != nil {
		return err
	}
	defer lock.Close() // closing releases the lock
	for _, t := range tools {
		if err := b.buildOne(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// buildOne makes t current. It does nothing if the stamp has the digest of today's inputs.
func (b builder) buildOne(ctx context.Context, t tool) error {
	switch {
	case len(t.debian) > 0:
		return b.fetch(ctx, t)
	case t.npm != "":
		return b.fetchNPM(ctx, t)
	case t.maven != "":
		return b.fetchMaven(ctx, t)
	case t.script != "":
		return b.copyScript(t)
	}
	dir := filepath.Join(b.modules, t.module)
	flags, err := linkerFlags(t, dir)
	if err != nil {
		return err
	}
	digest, err := inputsDigest(t, dir, flags)
	if err != nil {
		return err
	}
	if b.isCurrent(t, digest) {
		return nil
	}
	fmt.Fprintf(b.progress, "tools: building %s (about %s with a cold cache)\n", t.name, time.Duration(t.coldSeconds)*time.Second)
	start := time.Now()
	if err := b.compile(ctx, t, dir, flags); err != nil {
		return err
	}
	fmt.Fprintf(b.progress, "tools: built %s in %s\n", t.name, time.Since(start).Round(time.Second))
	return os.WriteFile(b.stamp(t), []byte(digest), 0o644)
}

// compile builds beside the final name and renames. So an interrupted build never leaves half a binary, and a running
// one can be replaced.
func (b builder) compile(ctx context.Context, t tool, dir, flags string) error {
	if err := os.Remove(b.stamp(t)); err != nil && !os.IsNotExist(err) {
		return err
	}
	// A killed build may have left its copies.
	if err := os.RemoveAll(b.workshop(t)); err != nil {
		return err
	}
	defer os.RemoveAll(b.workshop(t))
	modfile, err := b.substitute(ctx, t, dir)
	if err != nil {
		return err
	}
	target := filepath.Join(b.output, t.name)
	arguments := []string{"build", "-tags", strings.Join(t.tags, ","), "-ldflags", flags, "-o", target + ".new"}
	if modfile != "" {
		arguments = append(arguments, "-modfile", modfile)
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append(arguments, t.pkg)...)
	cmd.Dir = dir
	// GOWORK=off: a user's workspace must not change the pinned versions.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s from %s: %w\n%s", t.name, dir, err, lastLines(output.Bytes(), 20))
	}
	return os.Rename(target+".new", target)
}

// copyScript replaces the script, which may run.
func (b builder) copyScript(t tool) error {
	content, err := os.ReadFile(filepath.Join(b.modules, t.script))
	if err != nil {
		return err
	}
	target := filepath.Join(b.output, t.name)
	if err := os.WriteFile(target+".new", content, 0o755); err != nil {
		return err
	}
	return os.Rename(target+".new", target)
}

func (b builder) isCurrent(t tool, digest string) bool {
	if _, err := os.Stat(filepath.Join(b.output, t.name)); err != nil {
		return false
	}
	recorded, err := os.ReadFile(b.stamp(t))
	return err == nil && string(recorded) == digest
}

func (b builder) stamps() string { return filepath.Join(b.output, ".stamps") }

func (b builder) stamp(t tool) string { return filepath.Join(b.stamps(), t.name) }

// lock locks the folder for building; the caller closes the file to unlock it.
func (b builder) lock() (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(b.stamps(), "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return file, nil
	}
	fmt.Fprintln(b.progress, "tools: waiting for another build into", b.output)
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", file.Name(), err)
	}
	return file, nil
}

// lastLines returns at most n lines from the end of text.
func lastLines(text []byte, n int) []byte {
	text = bytes.TrimRight(text, "\n")
	lines := bytes.Split(text, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], []byte("\n"))
}
