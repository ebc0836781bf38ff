//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// command runs a program in the checkout and returns its standard output. The error contains the program's messages.
func (e *environment) command(name string, args ...string) (string, error) {
	return e.commandWithInput("", name, args...)
}

func (e *environment) commandWithInput(input, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(e.ctx, name, args...)
	cmd.Dir = e.root
	cmd.Env = append(os.Environ(), "KUBECONFIG="+e.kubeconfig)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// tool returns the path of a tool that the checkout built; with E2E_CLUSTER=current, a tool
// that was not built is looked up in PATH.
func (e *environment) tool(name string) string {
	if built := filepath.Join(e.root, "bin", "tools", name); e.ownCluster || exists(built) {
		return built
	}
	return name
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (e *environment) kubectl(args ...string) (string, error) {
	return e.command(e.tool("kubectl"), args...)
}

func (e *environment) helm(args ...string) (string, error) {
	return e.command(e.tool("helm"), args...)
}

// mustKubectl is kubectl as a user would type it; a failure ends the test.
func mustKubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := suite.kubectl(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
