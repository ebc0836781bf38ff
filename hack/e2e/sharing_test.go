//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// checkSharing has the cases of several runs on one etcd, and of faults that must not become those of other runs. Each
// case has an etcd of its own, so they run in parallel.
func checkSharing(t *testing.T) {
	for _, s := range []scenario{
		{name: "target frozen for 40 s", check: checkFrozenTarget, node: true},
		{name: "user with rights on its own prefix only", check: checkOwnPrefixOnly},
		{name: "Allow beside Queue", check: checkAllowBesideQueue},
		{name: "pods that never come", check: checkPodsThatNeverCome},
		{name: "pods that cannot be scraped", check: checkPodsThatCannotBeScraped, node: true},
		{name: "ten runs of one second", check: checkTenRuns},
		{name: "dead address", check: checkDeadAddress},
		{name: "pod killed after it has measured", check: checkKilledAfterMeasuring, node: true},
	} {
		if s.node && !suite.ownCluster {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.check(t)
		})
	}
}

// startSmall starts an etcd of one member in a namespace of its own.
func startSmall(t *testing.T, purpose string) *etcdCluster {
	t.Helper()
	c := &etcdCluster{namespace: namespace(t, purpose), members: 1, small: true}
	if err := suite.startEtcd(c); err != nil {
		t.Fatal(err)
	}
	eventually(t, 2*time.Minute, "etcd in "+c.namespace+" to be ready", c.ready)
	return c
}

// newModest is newPut with pods that request little of the node, so that those of all cases fit on it.
func newModest(c *etcdCluster, name string, requests int64) *v1alpha1.EtcdBenchmark {
	return newModestIn(c.namespace, c, name, requests)
}

func newModestIn(namespace string, c *etcdCluster, name string, requests int64) *v1alpha1.EtcdBenchmark {
	b := newPutIn(namespace, c, name, requests)
	b.Spec.Pod = &v1alpha1.PodSettings{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
	}}}
	return b
}

// queued lets a run wait for others.
func queued(b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	b.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
	return b
}

// elsewhere lets a run load the same etcd at another address.
func elsewhere(t *testing.T, c *etcdCluster, b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	b.Spec.Target.Endpoints = []string{net.JoinHostPort(addressOf(t, c, 0), "2379")}
	return b
}

func stopRun(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	stop := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true}}`))
	if err := suite.client.Patch(suite.ctx, b, stop); err != nil {
		t.Fatal(err)
	}
}

// requireNext stops a run, and requires that the run that waits for it completes, and measures after it. It returns the end
// of that run.
func requireNext(t *testing.T, holder, next *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	t.Helper()
	stopRun(t, holder)
	next = awaitEnd(t, next)
	requireCompleted(t, next)
	requireAfter(t, next, holder)
	return next
}

// checkFrozenTarget freezes an etcd for longer than its lock lasts. The run that has the lock goes on, although another
// run waits for it.
func checkFrozenTarget(t *testing.T) {
	c := startSmall(t, "frozen")
	holder := awaitMeasuring(t, create(t, queued(endless(newModest(c, "holder", 0)))))
	next := create(t, elsewhere(t, c, queued(newModest(c, "next", 300))))
	awaitQueued(t, next, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock})
	resume := freeze(t, etcdProcess(t, c))
	<-time.After(40 * time.Second)
	resume()
	awaitMore(t, holder, 1000)
	awaitQueued(t, next, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock})
	requireNext(t, holder, next)
}

// etcdProcess is the process of the only member.
func etcdProcess(t *testing.T, c *etcdCluster) int {
	t.Helper()
	pid, err := processOf(memberPod(t, c, 0).UID, "etcd")
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// checkOwnPrefixOnly runs with a user that may not write the key of the lock. Its run has the lock all the same.
func checkOwnPrefixOnly(t *testing.T) {
	c := startSmall(t, "own-prefix")
	if err := suite.guardWithPassword(c, "mine/"); err != nil {
		t.Fatal(err)
	}
	mine := func(b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
		b.Spec.Target.Auth, b.Spec.Target.KeyPrefix = &v1alpha1.TargetAuth{SecretName: passwordSecret}, "mine/"+b.Name+"/"
		return queued(b)
	}
	first := awaitMeasuring(t, create(t, mine(endless(newModest(c, "first", 0)))))
	second := create(t, elsewhere(t, c, mine(newModest(c, "second", 300))))
	awaitQueued(t, second, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock})
	requireNext(t, first, second)
}

// checkAllowBesideQueue has a run that does not wait beside one that does, in both orders.
func checkAllowBesideQueue(t *testing.T) {
	c := startSmall(t, "allow")
	waits := awaitMeasuring(t, create(t, queued(endless(newModest(c, "waits", 0)))))
	requireCompleted(t, runToEnd(t, newModest(c, "beside", 300)))
	if ended(mustGet(t, waits)) {
		t.Error("the run that was first has ended")
	}
	stopRun(t, waits)
	requireReason(t, awaitEnd(t, waits), v1alpha1.ReasonStopped)

	beside := awaitMeasuring(t, create(t, endless(newModest(c, "beside-all", 0))))
	next := create(t, elsewhere(t, c, queued(newModest(c, "next", 300))))
	awaitQueued(t, next, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock})
	requireNext(t, beside, next)
}

// checkPodsThatNeverCome has a run whose pods no node accepts, and whose timeout is a week. It keeps no run at another
// address waiting, and one at its own address no longer than its spec.schedulingTimeoutSeconds.
func checkPodsThatNeverCome(t *testing.T) {
	const limit = 80 * time.Second
	c := startSmall(t, "never")
	other := namespace(t, "never-other")
	never := queued(endless(newModest(c, "never", 0)))
	never.Spec.Pod.NodeSelector = map[string]string{"no-such-label": "x"}
	never.Spec.TimeoutSeconds, never.Spec.SchedulingTimeoutSeconds = 7*24*3600, int32(limit/time.Second)
	never = create(t, never)
	awaitStage(t, never, v1alpha1.StagePreparing)
	behind := create(t, queued(newModestIn(other, c, "behind", 300)))
	awaitQueued(t, behind, v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueAddresses, Ahead: 1})
	beside := runToEnd(t, elsewhere(t, c, queued(newModestIn(other, c, "beside", 300))))
	requireCompleted(t, beside)
	behind = awaitEnd(t, behind)
	requireCompleted(t, behind)
	never = mustGet(t, never)
	requireReason(t, never, v1alpha1.ReasonUnschedulable)
	if at := never.Status.CompletionTime; beside.Status.Summary.WindowStart.After(at.Time) {
		t.Errorf("the run at another address measured from %s, after the one without pods had ended at %s", beside.Status.Summary.WindowStart, at)
	}
	if waited := behind.Status.Admission.At.Sub(never.Status.Admission.At.Time); waited > limit+10*time.Second {
		t.Errorf("the run at the same address waited for %s, wanted at most about %s", waited, limit)
	}
}

// checkPodsThatCannotBeScraped has a run of which the operator sees nothing, with a timeout of a week. A run of another
// namespace that was there before goes on. A run that comes later, and waits for others, completes.
func checkPodsThatCannotBeScraped(t *testing.T) {
	c, other := startSmall(t, "unscrapable"), startSmall(t, "unscrapable-other")
	before := awaitMeasuring(t, create(t, queued(endless(newModest(other, "before", 0)))))
	blind := queued(endless(newModest(c, "blind", 0)))
	blind.Spec.TimeoutSeconds = 7 * 24 * 3600
	blind = create(t, blind)
	blockPods(t, blind)
	awaitStage(t, blind, v1alpha1.StageRunning)
	awaitMore(t, before, 100)
	requireNext(t, before, create(t, queued(newModest(other, "after", 300))))
	if ended(mustGet(t, blind)) {
		t.Error("the run that cannot be scraped has ended, so this shows nothing")
	}
	stopRun(t, blind)
	requireReason(t, awaitEnd(t, blind), v1alpha1.ReasonStopped)
}

// checkTenRuns creates ten runs at one address at once. They run in the order of their creation, not of their names.
func checkTenRuns(t *testing.T) {
	c := startSmall(t, "ten")
	var runs []*v1alpha1.EtcdBenchmark
	for i := range 10 {
		b := queued(newModest(c, fmt.Sprintf("run-%d", 7*i%10), 50))
		b.Spec.Load.Pods = 1
		runs = append(runs, create(t, b))
	}
	for i := range runs {
		runs[i] = awaitEnd(t, runs[i])
		requireCompleted(t, runs[i])
		if i > 0 {
			requireAfter(t, runs[i], runs[i-1])
		}
	}
}

// checkDeadAddress names an address at which nothing answers. The run refuses it, or skips it if it may.
func checkDeadAddress(t *testing.T) {
	c := startSmall(t, "dead-address")
	dead := func(name string) *v1alpha1.EtcdBenchmark {
		b := newModest(c, name, 300)
		b.Spec.Target.Endpoints = append(b.Spec.Target.Endpoints, net.JoinHostPort(addressOf(t, c, 0), "1"))
		return b
	}
	refused := runToEnd(t, dead("refused"))
	requireReason(t, refused, v1alpha1.ReasonTargetUnreachable)
	if found := meta.FindStatusCondition(refused.Status.Conditions, v1alpha1.ConditionFinished).Message; !strings.Contains(found, "unreachableMembers") {
		t.Errorf("wanted a message that names target.unreachableMembers, found %q", found)
	}
	skips := dead("skips")
	skips.Spec.Target.UnreachableMembers = spec.UnreachableSkip
	skips = runToEnd(t, skips)
	requireCompleted(t, skips)
	requireWarning(t, skips, "did not answer when client pods started")
}

func requireWarning(t *testing.T, b *v1alpha1.EtcdBenchmark, part string) {
	t.Helper()
	if all := b.Status.Summary.Warnings; !slices.ContainsFunc(all, func(w string) bool { return strings.Contains(w, part) }) {
		t.Errorf("%s: wanted a warning with %q, found %q", b.Name, part, all)
	}
}

// checkKilledAfterMeasuring kills a pod that has measured everything and waits for the other one. Nothing is lost.
func checkKilledAfterMeasuring(t *testing.T) {
	c := startSmall(t, "killed-late")
	const requests = 1200
	b := endless(newModest(c, "killed-late", requests))
	b.Spec.Load.Requests, b.Spec.Load.DurationSeconds = new(int64(requests)), nil
	b = awaitMeasuring(t, create(t, b))
	v := victim{run: b, target: c}
	first, err := processOf(clientPod(t, v, 0).UID, "loadgen")
	if err != nil {
		t.Fatal(err)
	}
	resume := freeze(t, first)
	eventually(t, time.Minute, "client pod 1 to have measured", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		for _, p := range found.Status.Pods {
			if p.Index == 1 && p.Stage == string(results.StageCleaning) {
				return nil
			}
		}
		return fmt.Errorf("the pods are %+v", found.Status.Pods)
	})
	signalPod(1, syscall.SIGKILL)(t, v)
	resume()
	b = awaitEnd(t, b)
	requireReason(t, b, v1alpha1.ReasonCompleted)
	if s := b.Status.Summary; s.Partial || s.MeasuredRequests != requests {
		t.Errorf("wanted all %d requests, found %+v", requests, s)
	}
	if found := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished).Message; !strings.Contains(found, "had measured everything") {
		t.Errorf("wanted a message about the killed pod, found %q", found)
	}
	awaitKeysDeleted(t, b)
	if left := mustStore(t, c, b.KeyPrefix()); len(left) > 0 {
		t.Errorf("%d keys are left", len(left))
	}
}
