//go:build stores

package etcd

import (
	"errors"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// As in etcd: the cleanup spares the objects of a run whose pod lives, and a pod that was given up learns that.
func TestKineSparesARunWhosePodLives(t *testing.T) {
	t.Parallel()
	_, p := startKine(t)
	pod, cleaner := kineOf(t, p, 0), kineOf(t, p, 0)
	if err := pod.Claim(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	before := signsOf(t, cleaner)
	if err := pod.Sign(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	for name, signs := range map[string]map[string]int64{"an older sign": before, "no sign": nil} {
		t.Log(name)
		wantFailure(t, cleaner.Clean(withTimeout(t), signs), results.FailurePodStillWrites)
	}
	if err := pod.Sign(withTimeout(t)); err != nil {
		t.Errorf("after the cleanup that failed: %v", err)
	}
	if err := cleanAtOnce(t, cleaner); err != nil {
		t.Fatal(err)
	}
	if err := pod.Sign(withTimeout(t)); !errors.Is(err, load.ErrDisowned) {
		t.Errorf("got %v, wanted %v", err, load.ErrDisowned)
	}
}
