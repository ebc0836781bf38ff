package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const usage = `usage: go run ./hack/cluster COMMAND
  up                                   start the cluster, or verify that it is up
  check                                report what keeps a cluster from starting here; change nothing
  down                                 end it and put the host back
  status                               show what runs
  load-image ARCHIVE                   import an image archive (OCI or docker)
  build-image -f FILE -t TAG CONTEXT   build a Dockerfile and load the image
  verify-clean                         up, down, and compare the host before and after`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := dispatch(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	l, err := findLayout()
	if err != nil {
		return err
	}
	p := newProgress(os.Stderr)
	switch args[0] {
	case "up":
		return locked(l, func() error { return up(ctx, l, p) })
	case "check":
		return check(ctx, l)
	case "down":
		return locked(l, func() error { return down(ctx, l, p) })
	case "verify-clean":
		return locked(l, func() error { return verifyClean(ctx, l, p) })
	case "status":
		return status(ctx, l, os.Stdout)
	case "load-image":
		return loadImageCommand(ctx, l, args[1:])
	case "build-image":
		return buildImageCommand(ctx, l, args[1:])
	default:
		return fmt.Errorf("unknown command %q\n%s", args[0], usage)
	}
}

// locked runs one command at a time per checkout. A second up waits and then finds the cluster up.
func locked(l layout, command func() error) error {
	if err := os.MkdirAll(l.path(), 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(l.path("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close() // closing releases the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	return command()
}

// progress prints one line per finished step, with the time since the beginning.
type progress struct {
	out   io.Writer
	start time.Time
}

func newProgress(out io.Writer) *progress { return &progress{out: out, start: time.Now()} }

func (p *progress) say(format string, args ...any) {
	fmt.Fprintf(p.out, "cluster: [%5.1fs] %s\n", time.Since(p.start).Seconds(), fmt.Sprintf(format, args...))
}
