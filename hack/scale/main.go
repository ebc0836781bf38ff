package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctrl.SetLogger(logr.Discard())
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// run ends everything that it starts, also after an error and after Ctrl-C.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "etcdbench-scale-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plane, err := startControlPlane(ctx, o, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.stop()) }()
	s := &stage{options: o, plane: plane, out: out, log: filepath.Join(dir, "manager.log")}
	defer s.end()
	if err := s.prepare(ctx); err != nil {
		return err
	}
	return s.play(ctx)
}
