//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// wrongClocksImage has clients with wrong clocks, from internal/load's build tag faults.
const wrongClocksImage = "etcdbench.dev/etcd-benchmark-operator:wrong-clocks"

// clockOffsets are the offsets of three client pods' clocks from the operator's.
var clockOffsets = []time.Duration{0, -time.Minute, time.Minute}

// skewObjective is met according to the pods' clocks, and unknown because these clocks are wrong.
const skewObjective = "starts"

// checkClocks runs three pods: one has a clock that is a minute behind, and one a clock that is a minute ahead. The
// former starts a minute late, the latter at once. Each does its part, and the run may not pass.
func checkClocks(t *testing.T) {
	buildWrongClocks(t)
	t.Cleanup(func() {
		if err := suite.detached().upgradeOperator(suite.chart(), ""); err != nil {
			t.Error(err)
		}
	})
	if err := suite.upgradeOperator(suite.chart(), wrongClocksImage); err != nil {
		t.Fatal(err)
	}
	before := putForeign(t, suite.side)
	b := newPutIn(namespace(t, "clocks"), suite.side, "clocks", 600)
	b.Spec.Load.Pods, b.Spec.Load.Rate = 3, &spec.Rate{PerSecond: 100}
	b.Spec.Objectives = []v1alpha1.Objective{
		{Name: "errors", Type: spec.ObjectiveErrorRatio, ErrorRatio: &v1alpha1.ErrorRatioObjective{}},
		{Name: skewObjective, Type: spec.ObjectiveStartSkew, StartSkew: &v1alpha1.StartSkewObjective{MaxMicroseconds: 90_000_000}},
	}
	b = runToEnd(t, b)
	requireClocksNotTrusted(t, b)
	requireOffsets(t, b)
	requireWhole(t, victim{run: b, target: suite.side, before: before})
	reliability.add(t, "client pod's clock off by a minute", v1alpha1.StageRunning, b, false)
}

// requireClocksNotTrusted requires that the run does not pass because of its clocks, and that its start times are not
// judged.
func requireClocksNotTrusted(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	passed := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionPassed)
	if passed == nil || passed.Status != metav1.ConditionUnknown || passed.Reason != v1alpha1.ReasonNotJudged {
		t.Fatalf("wanted Passed=Unknown/%s, found %+v", v1alpha1.ReasonNotJudged, passed)
	}
	if !strings.Contains(passed.Message, "The clock of client pod 1") {
		t.Errorf("wanted the message to name the clock of pod 1, found %+v", passed)
	}
	i := slices.IndexFunc(b.Status.Objectives, func(o v1alpha1.ObjectiveStatus) bool { return o.Name == skewObjective })
	if i < 0 || b.Status.Objectives[i].Result != v1alpha1.ObjectiveUnknown {
		t.Errorf("wanted %s to be Unknown, found %+v", skewObjective, b.Status.Objectives)
	}
}

// requireOffsets requires that the reported clock offsets are right to a second.
func requireOffsets(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	for i, want := range clockOffsets {
		got := b.Status.Pods[i].ClockOffsetMicroseconds
		if got == nil || (time.Duration(*got)*time.Microsecond-want).Abs() > time.Second {
			t.Errorf("pod %d: wanted its clock to be %s off, found %v", i, want, got)
		}
	}
}

func buildWrongClocks(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	for _, command := range [][]string{
		{"env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-tags=faults", "-o", filepath.Join(dir, "bin", "image") + "/", "./cmd/manager", "./cmd/loadgen"},
		{"go", "run", "./hack/cluster", "build-image", "-f", filepath.Join(suite.root, "Dockerfile"), "-t", wrongClocksImage, dir},
	} {
		if _, err := suite.command(command[0], command[1:]...); err != nil {
			t.Fatal(err)
		}
	}
}
