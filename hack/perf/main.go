package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := errors.New("usage: go run ./hack/perf clients|memory|parity [flags]; -h after one of them lists its flags")
	if args := os.Args[1:]; len(args) > 0 && slices.Contains(sections, args[0]) {
		err = run(ctx, args[0], args[1:], os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "perf:", err)
		os.Exit(1)
	}
}
