//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkQueue creates three runs on one etcd. The second has the addresses of the first, and waits for it. The third has
// others, and waits for the lock of the etcd. So does a run without a cluster. The runs execute one after the other, and a
// waiting run writes nothing.
func checkQueue(t *testing.T) {
	ns := namespace(t, "queue")
	first := newEndless(ns, "first")
	second := newPutIn(ns, suite.side, "second", 500)
	third := newPut(suite.side, "queue-third", 500)
	third.Spec.Target = v1alpha1.Target{
		Pods: &v1alpha1.PodsTarget{Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": etcdName}}},
	}
	for _, b := range []*v1alpha1.EtcdBenchmark{first, second, third} {
		b.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
	}
	first = awaitMeasuring(t, create(t, first))
	awaitQueued(t, create(t, second), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Ahead: 1, Behind: first.Name})
	awaitQueued(t, create(t, third), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock})
	for _, b := range []*v1alpha1.EtcdBenchmark{second, third} {
		if left := mustStore(t, suite.side, b.KeyPrefix()); len(left) > 0 {
			t.Errorf("%s has written %d keys while it waited", b.Name, len(left))
		}
	}
	local := runLocally(t, suite.side)
	stopRun(t, first)
	for _, b := range []*v1alpha1.EtcdBenchmark{second, third} {
		b = awaitEnd(t, b)
		requireCompleted(t, b)
		requireAfter(t, b, first)
	}
	requireAfter(t, local(), first)
}

// requireAfter requires that a run measured after another one, whose status may be written later.
func requireAfter(t *testing.T, b, first *v1alpha1.EtcdBenchmark) {
	t.Helper()
	first = awaitEnd(t, first)
	if first.Status.Summary == nil {
		t.Fatalf("wanted a summary of %s, found %+v", first.Name, first.Status.Conditions)
	}
	if b.Status.Summary == nil || b.Status.Summary.WindowStart.Before(first.Status.Summary.WindowEnd) {
		t.Errorf("%s measured before the first had ended: %+v", b.Name, b.Status)
	}
}

// runLocally starts a run of the plugin without a cluster on the first member of an etcd, and waits until it waits for
// the lock. It returns its end.
func runLocally(t *testing.T, c *etcdCluster) (end func() *v1alpha1.EtcdBenchmark) {
	t.Helper()
	b := newPut(c, "local", 100)
	b.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "EtcdBenchmark"}
	b.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
	manifest, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	progress := &progressLines{}
	cmd := exec.CommandContext(suite.ctx, filepath.Join(suite.root, "bin", "kubectl-etcdbench"), "run", "--local", "-f", "-", "--endpoints", net.JoinHostPort(addressOf(t, c, 0), "2379"), "-o", "json")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(manifest), &out, progress
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the local run to wait", func(context.Context) error {
		if text := progress.text(); !strings.Contains(text, "waits for the lock") {
			return fmt.Errorf("it says %q", text)
		}
		return nil
	})
	return func() *v1alpha1.EtcdBenchmark {
		t.Helper()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the local run: %v\n%s", err, progress.text())
		}
		found := &v1alpha1.EtcdBenchmark{}
		if err := json.Unmarshal(out.Bytes(), found); err != nil {
			t.Fatalf("the local run wrote %q: %v", out.String(), err)
		}
		return found
	}
}

// progressLines keeps what a process writes.
type progressLines struct {
	mutex sync.Mutex
	all   []byte
}

func (p *progressLines) Write(data []byte) (int, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.all = append(p.all, data...)
	return len(data), nil
}

func (p *progressLines) text() string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return string(p.all)
}

func mustGet(t *testing.T, b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	found, err := get(suite.ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func awaitQueued(t *testing.T, b *v1alpha1.EtcdBenchmark, want v1alpha1.QueueStatus) {
	t.Helper()
	eventually(t, 2*time.Minute, b.Name+" to wait", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		if q := found.Status.Queue; q == nil || q.WaitsFor != want.WaitsFor || q.Ahead != want.Ahead || q.Behind != want.Behind {
			return fmt.Errorf("status.queue is %+v", q)
		}
		return wantReason(found, v1alpha1.ConditionFinished, v1alpha1.StageQueued)
	})
}

// holderName is the name of the run behind which a victim queues.
const holderName = "holder"

func queueBehindHolder(t *testing.T, v victim) {
	holder := endless(newPutIn(v.run.Namespace, v.target, holderName, 0))
	for _, b := range []*v1alpha1.EtcdBenchmark{holder, v.run} {
		b.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
	}
	awaitMeasuring(t, create(t, holder))
	awaitQueued(t, create(t, v.run), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Ahead: 1, Behind: holderName})
}

// endHolder waits until the queued run has ended, and then deletes the other one.
func endHolder(t *testing.T, v victim) {
	eventually(t, goneWithin, "the queued run to end", func(ctx context.Context) error {
		found, err := get(ctx, v.run)
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		return finishedOrWhyNot(found)
	})
	holder := &v1alpha1.EtcdBenchmark{}
	if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: v.run.Namespace, Name: holderName}, holder); err != nil {
		t.Fatal(err)
	}
	if ended(holder) {
		t.Errorf("the run ahead in the queue has ended: %+v", holder.Status.Conditions)
	}
	if err := suite.client.Delete(suite.ctx, holder); err != nil {
		t.Fatal(err)
	}
	eventually(t, goneWithin, "the run ahead in the queue to be gone", func(ctx context.Context) error { return deleted(ctx, holder) })
}

// checkGuard ends a run by a rule about its target.
func checkGuard(t *testing.T) {
	b := newEndless(namespace(t, "guard"), "guarded")
	b.Spec.Workload.Put.Values.SizeBytes = 10_000
	b.Spec.Guard = &spec.Guard{
		AcceptWrites: true,
		StopOn:       &spec.StopRules{Alarm: true, DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: databaseOf(t, suite.side) + 5_000_000}},
	}
	b = runToEnd(t, b)
	requireCutShort(t, b, v1alpha1.ReasonGuardStopped)
	if g := b.Status.Guard; g == nil || g.Rule != "DatabaseSize" || g.Subject == "" {
		t.Errorf("status.guard is %+v", g)
	}
}

// databaseOf is the size of the largest database of the target's members, as a run reads it, in bytes.
func databaseOf(t *testing.T, c *etcdCluster) (largest int64) {
	t.Helper()
	b := runToEnd(t, newPut(c, "guard-size", 10))
	requireCompleted(t, b)
	for _, m := range b.Status.Target.Members {
		largest = max(largest, m.DatabaseBytes)
	}
	return largest
}
