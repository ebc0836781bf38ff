//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// processOf returns the process ID of a program in a pod. The node is this machine, so the pod's cgroup identifies the
// pod's processes.
func processOf(pod types.UID, program string) (int, error) {
	cgroups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return 0, err
	}
	for _, path := range cgroups {
		// A process that ends meanwhile is not the right one.
		content, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(content), "pod"+string(pod)) {
			continue
		}
		if executable, err := os.Readlink(filepath.Join(filepath.Dir(path), "exe")); err == nil && filepath.Base(executable) == program {
			return strconv.Atoi(filepath.Base(filepath.Dir(path)))
		}
	}
	return 0, fmt.Errorf("pod %s: wanted a process of %s, found none", pod, program)
}

// operatorProcess returns the process ID of the running operator.
func operatorProcess(ctx context.Context) (int, error) {
	pod, err := suite.operatorPod(ctx)
	if err != nil {
		return 0, err
	}
	return processOf(pod.UID, "manager")
}

// killOperatorProcess kills the operator's process without a graceful shutdown.
func killOperatorProcess(t *testing.T) {
	t.Helper()
	pid, err := operatorProcess(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// blockFromOperator drops the operator's packets to the pods' metrics port. The rule is in the operator's network
// namespace: it outlives the process, and disappears with the pod.
func blockFromOperator(t *testing.T, addresses []string) {
	t.Helper()
	pid, err := operatorProcess(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	table := "e2e_" + strconv.FormatInt(int64(os.Getpid()), 10)
	rules := fmt.Sprintf(`add table inet %[1]s
add chain inet %[1]s output { type filter hook output priority 0; }
add rule inet %[1]s output ip daddr { %[2]s } tcp dport %[3]d drop
`, table, strings.Join(addresses, ", "), plan.MetricsPort)
	if _, err := suite.commandWithInput(rules, "nsenter", "--net=/proc/"+strconv.Itoa(pid)+"/ns/net", "nft", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}
