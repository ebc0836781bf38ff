package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
)

// TestSmall plays runs that load side by side, beside others that wait or have finished. It checks what a busy machine
// does not change: all results are whole, and the manager lists no runs.
func TestSmall(t *testing.T) {
	root, dir := filepath.Join("..", ".."), t.TempDir()
	manager, out := filepath.Join(dir, "manager"), filepath.Join(dir, "scale.json")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", manager, "./cmd/manager")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the manager: %v\n%s", err, text)
	}
	o, err := parse([]string{
		"-root", root, "-tools", apiservertest.Tools(root), "-manager", manager, "-out", out,
		"-size", "small", "-scenes", "loading", "-loading-seconds", "3",
	}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if err := run(t.Context(), o, &printed); err != nil {
		t.Fatalf("%v\n%s", err, &printed)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var figures document
	if err := json.Unmarshal(text, &figures); err != nil {
		t.Fatal(err)
	}
	if len(figures.Scenes) != 1 {
		t.Fatalf("wanted one scene, found %d", len(figures.Scenes))
	}
	loading := figures.Scenes[0]
	if loading.FullLists > 0 {
		t.Errorf("wanted no list of runs, found %d", loading.FullLists)
	}
	i := slices.IndexFunc(loading.Bounds, func(b bound) bool { return b.Name == "whole results" })
	if i < 0 || !loading.Bounds[i].Passed {
		t.Errorf("wanted whole results, found\n%s", &printed)
	}
}
