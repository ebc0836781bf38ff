package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// besideOthers lets a run load its target beside others.
func besideOthers(run string) string {
	return strings.Replace(run, "target: {service: {name: etcd}}", "target: {service: {name: etcd}, concurrentRuns: Allow}", 1)
}

// waiting starts a run, and returns when it waits for the lock of its target. result returns its exit status and its
// object.
func waiting(t *testing.T, stdin, endpoint string) (result func() (int, *v1alpha1.EtcdBenchmark)) {
	t.Helper()
	cmd, _ := process(t, stdin, "run", "--local", "-f", "-", "-o", "json", "--endpoints", endpoint)
	var out strings.Builder
	cmd.Stdout = &out
	p := startedUntil(t, cmd, "which another run holds")
	return func() (int, *v1alpha1.EtcdBenchmark) {
		status := exitStatus(t, p.end())
		run := &v1alpha1.EtcdBenchmark{}
		if err := json.Unmarshal([]byte(out.String()), run); err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		return status, run
	}
}

// Two processes that know nothing of each other load one etcd at different addresses. The second waits for the lock,
// which is free at the latest 20 s after the first was killed.
func TestARunWaitsForOneThatIsKilled(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	holder := measuring(t, endless, cluster.Endpoints[0])
	result := waiting(t, puts, cluster.Endpoints[1])
	killed := time.Now()
	if err := holder.stop(t, syscall.SIGKILL); err == nil {
		t.Error("the killed process ended without an error")
	}
	status, run := result()
	if status != 0 || run.Status.Summary == nil {
		t.Fatalf("exit status %d, %+v", status, run.Status.Conditions)
	}
	if waited := run.Status.Summary.WindowStart.Sub(killed); waited < 0 || waited > 30*time.Second {
		t.Errorf("it measured from %v after the other run was killed, wanted up to 30 s", waited)
	}
}

// A run that loads its target beside others holds the lock, so that others wait for it. It does not wait for them.
func TestARunBesideOthers(t *testing.T) {
	t.Parallel()
	endpoint := etcdtest.Start(t, 1, nil).Endpoints[0]
	first := measuring(t, besideOthers(endless), endpoint)
	result := waiting(t, puts, endpoint)
	second := measuring(t, besideOthers(endless), endpoint)
	stopped := time.Now()
	for _, p := range []*runningProcess{first, second} {
		exitStatus(t, p.stop(t, syscall.SIGINT))
	}
	if status, run := result(); status != 0 || run.Status.Summary.WindowStart.Time.Before(stopped) {
		t.Errorf("exit status %d, window from %v, before the other runs ended at %v", status, run.Status.Summary.WindowStart, stopped)
	}
}

// A run that waits too long ends with the UID of the run that holds the lock, and has written nothing.
func TestATargetThatStaysBusy(t *testing.T) {
	t.Parallel()
	endpoint := etcdtest.Start(t, 1, nil).Endpoints[0]
	holder := measuring(t, endless, endpoint)
	defer func() { exitStatus(t, holder.stop(t, syscall.SIGINT)) }()
	status, run := waiting(t, puts+"  schedulingTimeoutSeconds: 10\n", endpoint)()
	finished := run.Status.Conditions
	if status != 2 || run.Status.Summary != nil {
		t.Errorf("exit status %d, summary %+v, wanted 2 and none", status, run.Status.Summary)
	}
	for _, c := range finished {
		if c.Type == v1alpha1.ConditionFinished && (c.Reason != v1alpha1.ReasonTargetBusy || !strings.Contains(c.Message, "UID")) {
			t.Errorf("finished as %s: %s", c.Reason, c.Message)
		}
	}
}
