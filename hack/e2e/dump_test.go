//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// dumped are the files that dump has written.
var dumped sync.Map

// dump writes the state of a namespace and of the operator to bin/e2e/<test>_<namespace>.txt, once: the actions of a
// test after its failure do not matter.
func dump(t *testing.T, namespace string) {
	t.Helper()
	path := filepath.Join(suite.root, "bin", "e2e", strings.ReplaceAll(t.Name(), "/", "_")+"_"+namespace+".txt")
	if _, again := dumped.LoadOrStore(path, true); again {
		return
	}
	e := suite.detached()
	var text strings.Builder
	for _, args := range [][]string{
		{"describe", "etcdbenchmarkschedules,etcdbenchmarksuites,etcdbenchmarks", "-n", namespace},
		{"get", "etcdbenchmarkschedules,etcdbenchmarksuites,etcdbenchmarks,jobs,pods,configmaps,events", "-n", namespace, "-o", "wide"},
		{"get", "etcdbenchmarkschedules,etcdbenchmarksuites,etcdbenchmarks,jobs,pods", "-n", namespace, "-o", "yaml"},
		{"logs", "-n", namespace, "-l", "app.kubernetes.io/managed-by=etcd-benchmark-operator", "--tail=-1", "--prefix"},
		{"get", "pods", "-n", operatorNamespace, "-o", "wide"},
		{"logs", "-n", operatorNamespace, "deployment/" + release, "--tail=-1"},
		{"logs", "-n", operatorNamespace, "deployment/" + release, "--tail=-1", "--previous"},
		{"get", "events", "-A", "--sort-by=.metadata.creationTimestamp"},
	} {
		text.WriteString("\n==== kubectl " + strings.Join(args, " ") + "\n")
		out, err := e.kubectl(args...)
		text.WriteString(out)
		if err != nil {
			text.WriteString(err.Error() + "\n")
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Error(err)
		return
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Error(err)
		return
	}
	t.Logf("the state of the cluster is in %s", path)
}
