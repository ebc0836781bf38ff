package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// usage has the resources that a process used in its whole life.
type usage struct {
	// cpu is user and system time.
	cpu time.Duration
	// memoryBytes is the peak resident memory.
	memoryBytes int64
}

// runProcess runs a program to its end and returns its standard output.
func runProcess(ctx context.Context, program string, args ...string) ([]byte, usage, error) {
	return runWatched(ctx, func([]byte) {}, program, args...)
}

// runWatched calls watch for each line of standard error as it arrives.
func runWatched(ctx context.Context, watch func(line []byte), program string, args ...string) ([]byte, usage, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return nil, usage{}, err
	}
	if err := cmd.Start(); err != nil {
		return nil, usage{}, err
	}
	lines := bufio.NewScanner(io.TeeReader(pipe, &stderr))
	for lines.Scan() {
		watch(lines.Bytes())
	}
	// After a line that is too long, read the rest, so that the process does not block.
	_, readErr := io.Copy(&stderr, pipe)
	if err := errors.Join(cmd.Wait(), readErr); err != nil {
		return nil, usage{}, fmt.Errorf("%s: %w: %s", program, err, lastOf(stderr.Bytes(), 1000))
	}
	r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil, usage{}, fmt.Errorf("%s: found no resource usage of the process: this needs Linux", program)
	}
	return stdout.Bytes(), usage{
		cpu:         cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		memoryBytes: r.Maxrss << 10,
	}, nil
}

func lastOf(text []byte, n int) []byte { return text[max(0, len(text)-n):] }
