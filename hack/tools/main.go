package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Println("usage: go run ./hack/tools NAME|GROUP...\nTools and groups:", strings.Join(knownNames(), ", "))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tools:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string) error {
	tools, err := selectTools(names)
	if err != nil {
		return err
	}
	root, err := checkout(ctx)
	if err != nil {
		return err
	}
	b := builder{
		modules:  filepath.Join(root, "hack", "tools"),
		output:   filepath.Join(root, "bin", "tools"),
		progress: os.Stderr,
	}
	return b.build(ctx, tools)
}

// checkout returns the root of the main module, as the go command sees it from here.
func checkout(ctx context.Context) (string, error) {
	file, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("asking go for the main module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(file)))
	if _, err := os.Stat(filepath.Join(root, "hack", "tools", "catalogue.go")); err != nil {
		return "", fmt.Errorf("this folder is not inside the checkout of etcd-benchmark-operator: run `go run ./hack/tools` from its root")
	}
	return root, nil
}
