//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// targetFaults impair the etcd under load. The run continues; its failed requests are part of its result, and every
// request is accounted for.
func targetFaults() map[string]fault {
	running := map[string]outcome{v1alpha1.StageRunning: {reason: v1alpha1.ReasonCompleted, measured: 3000}}
	return map[string]fault{
		"etcd member killed":     {members: 3, inject: signalMembers(follower, syscall.SIGKILL), in: running},
		"etcd leader killed":     {members: 3, inject: signalMembers(leader, syscall.SIGKILL), in: running},
		"etcd member restarted":  {members: 3, inject: signalMembers(follower, syscall.SIGTERM), in: running},
		"etcd member paused":     {members: 3, inject: pauseMembers(follower), in: running},
		"etcd leader paused":     {members: 3, inject: pauseMembers(leader), in: running},
		"quorum lost":            {members: 3, inject: pauseMembers(majority), in: running},
		"etcd leader moved":      {members: 3, inject: moveAway, in: running},
		"etcd connections reset": {members: 3, inject: resetConnections, in: running},
		"etcd quota filled": {
			inject: fillQuota, etcdFlags: []string{"--quota-backend-bytes=" + strconv.Itoa(smallQuota)},
			// Long enough for the quota to be filled meanwhile.
			change: func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Requests = new(int64(12_000)) },
			in:     map[string]outcome{v1alpha1.StageRunning: {reason: v1alpha1.ReasonGuardStopped, result: partial, reported: []int{0, 1}}},
		},
	}
}

const (
	smallQuota = 32 << 20
	// outage is the duration of temporary faults: longer than an election, shorter than the request time-out.
	outage = 5 * time.Second
)

// choice picks members of a cluster, by ordinal.
type choice func(leader int) []int

func follower(leader int) []int { return []int{(leader + 1) % 3} }
func leader(leader int) []int   { return []int{leader} }
func majority(leader int) []int { return []int{leader, (leader + 1) % 3} }

// processes returns the chosen members' processes.
func (c choice) processes(t *testing.T, v victim) []int {
	t.Helper()
	name, err := v.target.leader()
	if err != nil {
		t.Fatal(err)
	}
	ordinal, err := strconv.Atoi(strings.TrimPrefix(name, etcdName+"-"))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, member := range c(ordinal) {
		pids = append(pids, memberProcess(t, v.target, member))
	}
	return pids
}

func memberProcess(t *testing.T, c *etcdCluster, member int) int {
	t.Helper()
	var pod corev1.Pod
	if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: c.namespace, Name: c.podName(member)}, &pod); err != nil {
		t.Fatal(err)
	}
	pid, err := processOf(pod.UID, "etcd")
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func signalMembers(which choice, signal syscall.Signal) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		for _, pid := range which.processes(t, v) {
			if err := syscall.Kill(pid, signal); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, 2*time.Minute, "all members to be ready again", v.target.ready)
	}
}

func pauseMembers(which choice) func(*testing.T, victim) {
	return func(t *testing.T, v victim) {
		pids := which.processes(t, v)
		pause(t, outage, pids...)
		eventually(t, time.Minute, "a leader", func(context.Context) error { _, err := v.target.leader(); return err })
	}
}

// pause stops processes for a while.
func pause(t *testing.T, length time.Duration, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		}()
	}
	last(t, length)
}

// last waits for the duration of a fault; it does not wait for an effect.
func last(t *testing.T, length time.Duration) {
	t.Helper()
	select {
	case <-time.After(length):
	case <-suite.ctx.Done():
		t.Fatal(suite.ctx.Err())
	}
}

func moveAway(t *testing.T, v victim) {
	old, err := v.target.leader()
	if err != nil {
		t.Fatal(err)
	}
	moveLeader(t, v.target, old)
}

// resetConnections answers all packets to one member with a reset, for a while.
func resetConnections(t *testing.T, v victim) {
	namespace := "--net=/proc/" + strconv.Itoa(memberProcess(t, v.target, 0)) + "/ns/net"
	if _, err := suite.commandWithInput(`add table inet e2e
add chain inet e2e input { type filter hook input priority 0; }
add rule inet e2e input tcp dport 2379 ip saddr != 127.0.0.0/8 reject with tcp reset
`, "nsenter", namespace, "nft", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	last(t, outage)
	if _, err := suite.command("nsenter", namespace, "nft", "delete", "table", "inet", "e2e"); err != nil {
		t.Fatal(err)
	}
}

// fillQuota writes until the target raises NOSPACE, and deletes its own keys again. The alarm remains, because only a
// person disarms it.
func fillQuota(t *testing.T, v victim) {
	value := strings.Repeat("x", 1<<20)
	full := func() error {
		for i := range 2 * smallQuota >> 20 {
			if err := v.putLarge(fmt.Sprintf("fill/%d", i), value); err != nil {
				return err
			}
		}
		return nil
	}
	if err := full(); err == nil || !strings.Contains(err.Error(), "exceeded") {
		t.Fatalf("wanted the quota to be exceeded, found %v", err)
	}
	if _, err := v.target.etcdctl("del", "--prefix", "fill/"); err != nil {
		t.Fatal(err)
	}
}

// putLarge puts a value that is too long for a command line.
func (v victim) putLarge(key, value string) error {
	_, err := suite.commandWithInput(value, suite.tool("kubectl"), "exec", "-i", "-n", v.target.namespace, v.target.podName(0), "--",
		"/usr/local/bin/etcdctl", "put", key)
	return err
}
