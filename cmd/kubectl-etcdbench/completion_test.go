package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// kubectl calls the script with the words that follow kubectl etcdbench.
func TestTheScriptThatKubectlCalls(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(own, filepath.Join(folder, "kubectl-etcdbench")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "./kubectl_complete-etcdbench", "explain", "ObjectivesM")
	cmd.Env = append(os.Environ(), asCommand+"=1", "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "ObjectivesMet\nObjectivesMissed\n:4\n"; strings.ReplaceAll(string(out), "\r", "") != want {
		t.Errorf("wanted %q, got %q", want, out)
	}
}
