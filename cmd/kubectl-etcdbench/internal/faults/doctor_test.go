package faults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// illness is a fault that doctor names first.
type illness struct {
	fault fault
	// inflict makes the fault of a running cluster.
	inflict func(t *testing.T, c *cluster)
	// window is the time between the two looks; 0 is 4 s.
	window time.Duration
	// user logs in as root.
	user bool
	// kind and members are those of the first finding; empty for none. Its message also says this.
	kind    string
	members []string
	says    string
}

// illnesses show on a busy machine, too.
var illnesses = map[string]illness{
	"slow flush at all members":   {fault: fault{members: 3, flush: 40 * time.Millisecond}, kind: "SlowFlush", members: []string{name(0), name(1), name(2)}},
	"a member that was stopped":   {fault: fault{members: 3}, inflict: stop, kind: "Unreachable", members: []string{name(2)}},
	"a majority that was stopped": {fault: fault{members: 3}, inflict: stopMajority, kind: "NoLeader"},
	"a database near its quota":   {fault: fault{arguments: []string{"--quota-backend-bytes=134217728"}}, inflict: fill, kind: "QuotaNear", members: []string{name(0)}},
}

// slowIllnesses take long, or show only on an idle machine.
var slowIllnesses = map[string]illness{
	"healthy":                  {fault: fault{members: 3}},
	"slow flush at the leader": {fault: fault{members: 3, flush: 40 * time.Millisecond, slow: theLeader}, kind: "SlowFlush", members: []string{name(0)}},
	// A database that commits slowly commits seldom.
	"slow commit": {fault: fault{commit: 60 * time.Millisecond}, window: 8 * time.Second, kind: "SlowCommit", members: []string{name(0)}},
	// Without a quorum no login ends, and the metrics say why.
	"a majority that was stopped, with users": {fault: fault{members: 3}, inflict: stopTwoOfUsers, user: true, kind: "NoLeader"},
	"delayed peers": {fault: fault{members: 3, peers: 150 * time.Millisecond}, kind: "SlowPeer", members: []string{name(0), name(1), name(2)}, says: "the slowest to member-"},
	// Filling it commits slowly, long enough before the look.
	"a fragmented database": {window: 8 * time.Second, inflict: fragment, kind: "Fragmented", members: []string{name(0)}},
	"no compaction":         {inflict: rewrite, kind: "CompactionMissing", members: []string{name(0)}},
}

// A member whose quota of processor time is too small for its work. It also reports slow commits.
func TestDoctorNamesThrottling(t *testing.T) {
	group := quotaOf(t, 2500*time.Microsecond)
	c := start(t, fault{})
	join(t, group, c.members[0].cmd.Process.Pid)
	write(t, c)
	cluster, err := etcd.Checkup(t.Context(), plan.Target{Datastore: spec.Etcd, Endpoints: c.endpoints}, 4*time.Second, etcd.OwnThrottling)
	if err != nil {
		t.Fatal(err)
	}
	found := doctor.Diagnose(cluster).Findings
	if len(found) == 0 || found[0].Kind != "Throttled" || !slices.Equal(found[0].Members, []string{name(0)}) {
		t.Errorf("wanted Throttled at %s first, found %+v of %+v", name(0), found, cluster.Members[0].Throttling)
	}
}

// quotaOf makes a control group with this much processor time in 100 ms. It ends with the test, after the members do.
func quotaOf(t *testing.T, quota time.Duration) (dir string) {
	t.Helper()
	file, value := "cpu.cfs_quota_us", fmt.Sprint(quota.Microseconds())
	dir = fmt.Sprintf("/sys/fs/cgroup/cpu/etcdbench-doctor-%d", os.Getpid())
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		file, value = "cpu.max", value+" 100000"
		dir = fmt.Sprintf("/sys/fs/cgroup/etcdbench-doctor-%d", os.Getpid())
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("no control group can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0o600); err != nil {
		t.Skipf("the control group limits no processor time: %v", err)
	}
	return dir
}

func join(t *testing.T, group string, pid int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(pid)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDoctorNamesTheFault(t *testing.T) { examineAll(t, illnesses, (*testing.T).Parallel) }

func TestAloneDoctorNamesTheFault(t *testing.T) {
	// A cluster that is made ill would slow down the others.
	oneByOne := func(*testing.T) {}
	examineAll(t, illnesses, oneByOne)
	examineAll(t, slowIllnesses, oneByOne)
}

func examineAll(t *testing.T, all map[string]illness, begin func(*testing.T)) {
	for title, ill := range all {
		t.Run(title, func(t *testing.T) {
			begin(t)
			c := start(t, ill.fault)
			if ill.inflict != nil {
				ill.inflict(t, c)
			}
			write(t, c)
			target := plan.Target{Datastore: spec.Etcd, Endpoints: c.endpoints}
			if ill.user {
				target.Auth = &plan.Auth{Dir: root(t)}
			}
			cluster, err := etcd.Checkup(t.Context(), target, cmp.Or(ill.window, 4*time.Second), etcd.OwnThrottling)
			if err != nil {
				t.Fatal(err)
			}
			found := doctor.Diagnose(cluster).Findings
			var got doctor.Finding
			if len(found) > 0 {
				got = found[0]
			}
			slices.Sort(got.Members)
			if got.Kind != ill.kind || !slices.Equal(got.Members, ill.members) || !strings.Contains(got.Message, ill.says) {
				t.Errorf("wanted %s at %v first (%s), found %+v", ill.kind, ill.members, ill.says, found)
			}
		})
	}
}

// write sends 20 puts per second until the test ends.
func write(t *testing.T, c *cluster) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	client := c.client(t, 0)
	running.Go(func() {
		ticks := time.NewTicker(50 * time.Millisecond)
		defer ticks.Stop()
		for i := 0; ctx.Err() == nil; i++ {
			running.Go(func() { _, _ = client.Put(ctx, fmt.Sprintf("foreign/%d", i%100), "value") })
			<-ticks.C
		}
	})
}

// stop ends a follower: those that a leader leaves have none for a while, which is a finding, too.
func stop(t *testing.T, c *cluster) {
	t.Helper()
	if leader, _ := c.leader(t); leader == 2 {
		c.moveLeader(t, 0)
	}
	if err := c.members[2].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-c.members[2].ended
}

func stopMajority(t *testing.T, c *cluster) {
	t.Helper()
	stopTwo(t, c, c.client(t, 0))
}

// stopTwo ends all members but the first, and waits until that one knows no leader.
func stopTwo(t *testing.T, c *cluster, client *clientv3.Client) {
	t.Helper()
	for _, m := range c.members[1:] {
		if err := m.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-m.ended
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for {
		status, err := client.Status(ctx, c.members[0].client)
		if err == nil && status.Leader == 0 {
			return
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			t.Fatalf("the last member still knows a leader (%v)", err)
		}
	}
}

func stopTwoOfUsers(t *testing.T, c *cluster) {
	t.Helper()
	client, ctx := c.client(t, 0), t.Context()
	_, err := client.UserAdd(ctx, "root", "secret")
	if err == nil {
		_, err = client.UserGrantRole(ctx, "root", "root")
	}
	if err == nil {
		_, err = client.AuthEnable(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	user, err := clientv3.New(clientv3.Config{Endpoints: []string{c.members[0].client}, Username: "root", Password: "secret", Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = user.Close() })
	stopTwo(t, c, user)
}

// root has the files of a Secret with the user root.
func root(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for file, content := range map[string]string{"username": "root", "password": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fill writes until the database has 96 % of its quota. A snapshot makes the member commit, and report its size.
func fill(t *testing.T, c *cluster) {
	t.Helper()
	client := c.client(t, 0)
	size := func() int64 {
		snapshot, err := client.Snapshot(t.Context())
		if err == nil {
			err = snapshot.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		status, err := client.Status(t.Context(), c.members[0].client)
		if err != nil {
			t.Fatal(err)
		}
		return status.DbSize
	}
	for i := 0; size() < 128<<20/1000*955; i++ {
		if _, err := client.Put(t.Context(), fmt.Sprintf("large/%d", i), strings.Repeat("x", 500_000)); err != nil {
			t.Fatal(err)
		}
	}
}

// fragment deletes more than half of a database, and leaves more than 100 MiB in use.
func fragment(t *testing.T, c *cluster) {
	t.Helper()
	client := c.client(t, 0)
	for i := range 300 {
		prefix := "kept/"
		if i >= 115 {
			prefix = "large/"
		}
		if _, err := client.Put(t.Context(), fmt.Sprint(prefix, i), strings.Repeat("x", 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := client.Delete(t.Context(), "large/", clientv3.WithPrefix())
	if err == nil {
		_, err = client.Compact(t.Context(), deleted.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rewrite writes the same keys 110,000 times.
func rewrite(t *testing.T, c *cluster) {
	t.Helper()
	client := c.client(t, 0)
	var writing sync.WaitGroup
	errs := make([]error, 50)
	for w := range errs {
		writing.Go(func() {
			for i := 0; i < 110_000/len(errs) && errs[w] == nil; i++ {
				_, errs[w] = client.Put(t.Context(), fmt.Sprintf("again/%d", w), "value")
			}
		})
	}
	writing.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
