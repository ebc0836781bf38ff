package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "devel"

// Exit codes.
const (
	exitDone = iota
	// exitFailed: the pod could not complete its part; the termination message has the reason.
	exitFailed
	// exitUsage: the command line is wrong.
	exitUsage
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "loadgen:", err)
		return exitUsage
	}
	switch o.mode {
	case modeHelp:
		return exitDone
	case modeVersion:
		fmt.Fprintln(stdout, "loadgen", version)
		return exitDone
	case modeClean:
		return clean(ctx, o, stderr)
	case modeSample:
		return listenAndSample(ctx, o, stderr)
	default:
		return loadPart(ctx, o, stderr)
	}
}
