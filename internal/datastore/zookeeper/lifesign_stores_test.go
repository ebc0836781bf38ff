//go:build stores

package zookeeper

import (
	"errors"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The cleanup spares the znodes of a run whose pod has signed since its signs were looked at. A pod that was given up
// learns that from its next sign.
func TestTheCleanupSparesARunWhosePodLives(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	p := planFor([]string{server.Endpoint()})
	pod, cleaner := driverOf(t, p, 0), driverOf(t, p, 0)
	if err := pod.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	before, err := cleaner.Signs(bounded(t))
	if err != nil || len(before) != 1 {
		t.Fatalf("found the signs %v, %v", before, err)
	}
	if err := pod.Sign(bounded(t)); err != nil {
		t.Fatal(err)
	}
	wantReason(t, cleaner.Clean(bounded(t), before), results.FailurePodStillWrites)
	wantReason(t, cleaner.Clean(bounded(t), nil), results.FailurePodStillWrites)
	if err := pod.Sign(bounded(t)); err != nil {
		t.Errorf("after the cleanup that failed: %v", err)
	}
	if err := cleanAtOnce(t, cleaner); err != nil {
		t.Fatal(err)
	}
	if err := pod.Sign(bounded(t)); !errors.Is(err, load.ErrDisowned) {
		t.Errorf("got %v, wanted %v", err, load.ErrDisowned)
	}
}
