package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reason that keeps the cluster from starting ends the demo at once: nothing is built before the look at the host.
func TestTheDemoLooksAtTheHostBeforeItBuilds(t *testing.T) {
	called := filepath.Join(t.TempDir(), "called")
	for _, program := range []string{"go", "make"} {
		script := "#!/bin/sh\necho " + program + " \"$@\" >>" + called + "\nexit 1\n"
		if err := os.WriteFile(filepath.Join(filepath.Dir(called), program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Dir(called)+":"+os.Getenv("PATH"))
	first := (&demo{place: venueHost}).steps("")[0]
	if err := first.do(context.Background()); err == nil {
		t.Error("the first step ignores that the cluster cannot start")
	}
	if got, err := os.ReadFile(called); err != nil || strings.TrimSpace(string(got)) != "go run ./hack/cluster check" {
		t.Errorf("the first step ran %q, %v, want only the look at the host", got, err)
	}
}
