//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// unpullable is an image that no registry serves. A request for it stays on this machine's loopback interface.
const unpullable = "127.0.0.1:1/no-such-image:none"

// checkHelm upgrades and uninstalls the release that the suite installed.
func checkHelm(t *testing.T) {
	ns := namespace(t, "helm")
	t.Run("upgrade", checkUpgrade)
	t.Run("missing image", func(t *testing.T) { checkMissingImage(t, ns) })
	t.Run("uninstall", func(t *testing.T) { checkUninstall(t, ns) })
}

// checkUpgrade upgrades to a chart with another CRD, and to a client image that does not exist, which the next test
// needs.
func checkUpgrade(t *testing.T) {
	const marker = "as the upgraded chart describes it"
	chart := filepath.Join(t.TempDir(), "chart")
	if err := os.CopyFS(chart, os.DirFS(suite.chart())); err != nil {
		t.Fatal(err)
	}
	editCRD(t, chart, marker)
	if err := suite.upgradeOperator(chart, unpullable); err != nil {
		t.Fatal(err)
	}
	if out := mustKubectl(t, "explain", "etcdbenchmark.spec.stop"); !strings.Contains(out, marker) {
		t.Errorf("the CRD was not upgraded; spec.stop is explained as:\n%s", out)
	}
}

// editCRD changes the description of spec.stop in the chart's CRD.
func editCRD(t *testing.T, chart, marker string) {
	t.Helper()
	edited := 0
	err := filepath.WalkDir(chart, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		changed := strings.Replace(string(text), "stop ends the run cleanly when", marker+" when", 1)
		if changed == string(text) {
			return nil
		}
		edited++
		return os.WriteFile(path, []byte(changed), 0o644)
	})
	if err != nil || edited != 1 {
		t.Fatalf("wanted one file of the chart with the description of spec.stop, found %d (%v)", edited, err)
	}
}

func checkMissingImage(t *testing.T, ns string) {
	before := putForeign(t, suite.side)
	b := newPutIn(ns, suite.side, "missing-image", 100)
	b.Spec.Load.Pods = 1
	b = requireBadEnd(t, create(t, b), badRun{wantReason: v1alpha1.ReasonImageUnavailable, wantNamed: []string{unpullable}})
	victim{run: b, target: suite.side, before: before}.requireNoHarm(t)
	reliability.add(t, "missing image", v1alpha1.StagePreparing, b, false)
}

// checkUninstall uninstalls the operator in the middle of a run. The run must end, its keys must be deleted, and only
// the CRD of the operator may remain.
func checkUninstall(t *testing.T, ns string) {
	if err := suite.installOperator(); err != nil {
		t.Fatal(err)
	}
	b := awaitMeasuring(t, create(t, newEndless(ns, "uninstalled")))
	if err := suite.uninstallOperator(); err != nil {
		t.Fatal(err)
	}
	requireNoKeys(t, b)
	requireNothingHolds(t, b)
	// Pods of the release end after Helm has returned.
	eventually(t, 2*time.Minute, "everything except the CRD to be removed", func(ctx context.Context) error {
		now, err := suite.inventory(ctx)
		if err != nil {
			return err
		}
		if diff := cmp.Diff([]string{}, withoutCRD(now.added(suite.before))); diff != "" {
			return fmt.Errorf("the uninstalled operator left:\n%s", diff)
		}
		return nil
	})
}

// requireNothingHolds requires that the object, if it still exists, has ended and has no finalizer that only the
// operator could remove.
func requireNothingHolds(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	found, err := get(suite.ctx, b)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	if len(found.Finalizers) > 0 {
		t.Errorf("found finalizers that cannot be removed without the operator: %v", found.Finalizers)
	}
	requireReason(t, found, v1alpha1.ReasonStopped)
}

// withoutCRD removes the CRD, and the objects that the API server derives from it, from an inventory.
func withoutCRD(names []string) []string {
	left := []string{}
	for _, name := range names {
		isCRD := slices.ContainsFunc(crdNames, func(crd string) bool { return strings.HasSuffix(name, "/"+crd) })
		isItsService := strings.HasSuffix(name, "/v1alpha1.etcdbench.dev")
		if !isCRD && !isItsService {
			left = append(left, name)
		}
	}
	return left
}
