package faults

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// The faults. Each is many times the normal duration on an idle machine.
const (
	slowFlush   = 30 * time.Millisecond
	slowCommit  = 60 * time.Millisecond
	slowApply   = 30 * time.Millisecond
	slowPeers   = 150 * time.Millisecond
	slowClients = 25 * time.Millisecond
	// farPeers is a usual round trip between regions.
	farPeers = 5 * time.Millisecond
)

// manyRevisions take a fifth of the window or more to delete: etcd deletes 1,000 at a time, and waits 10 ms before the
// next.
const manyRevisions = 80_000

// trial is one fault, and the expected result of a run.
type trial struct {
	fault    fault
	change   func(*v1alpha1.EtcdBenchmark)
	inWindow func(*testing.T, *cluster)

	// group is which other trials run at the same time.
	group group
	// adds is the least time that the fault adds to a put; 0 if it is shown by a missed objective alone.
	adds time.Duration
	// named are the resources that the evidence must name, mayName those that it may name. It names no others.
	named, mayName []v1alpha1.Resource
	// share, if set, is the range of the window, in percent, that the evidence gives the one resource that it names.
	share [2]int
	// unexplained: the members' numbers explain less than half.
	unexplained bool
	// missed are the objectives that must be missed, mayMiss those that may be missed. All others are met.
	missed, mayMiss []spec.ObjectiveType
}

// group is a set of trials that run side by side. On a busy machine, evidence rightly names processors, too.
type group string

const (
	// alone: a trial that no other trial may delay. These run one after the other.
	alone group = "alone"
	// amongQuiet: trials that need little processor time.
	amongQuiet group = "among quiet trials"
	// onBusyMachine: trials whose requirements also hold on a busy machine.
	onBusyMachine group = "on a busy machine"
)

// trials have one fault each.
func trials() map[string]trial {
	return map[string]trial{
		"flushes of the log": {
			fault: fault{flush: slowFlush}, group: amongQuiet, adds: slowFlush,
			named:  []v1alpha1.Resource{v1alpha1.ResourceDisk},
			missed: []spec.ObjectiveType{spec.ObjectiveWALFsync},
		},
		"flushes of the leader's log": {
			fault: fault{members: 3, flush: slowFlush, slow: theLeader}, group: amongQuiet, adds: slowFlush,
			named:  []v1alpha1.Resource{v1alpha1.ResourceDisk},
			missed: []spec.ObjectiveType{spec.ObjectiveWALFsync},
		},
		// A put that is sent to a follower is answered when this follower has applied it, and so flushed it.
		"flushes of a follower's log": {
			fault: fault{members: 3, flush: slowFlush, slow: aFollower}, group: amongQuiet, adds: slowFlush / 3,
			named: []v1alpha1.Resource{v1alpha1.ResourceDisk}, mayName: []v1alpha1.Resource{v1alpha1.ResourceUnexplained},
			missed: []spec.ObjectiveType{spec.ObjectiveWALFsync},
		},
		// The leader and the other follower are a quorum, so no put to the leader waits for these flushes.
		"flushes of a follower's log, load on the leader": {
			fault: fault{members: 3, flush: slowFlush, slow: aFollower}, change: onLeader, group: amongQuiet,
			mayName: []v1alpha1.Resource{v1alpha1.ResourceNetwork, v1alpha1.ResourceUnexplained},
			missed:  []spec.ObjectiveType{spec.ObjectiveWALFsync},
		},
		// Most puts arrive during a commit and wait for half of it on average. That makes them slow to apply.
		"commits of the database": {
			fault: fault{commit: slowCommit, arguments: []string{"--backend-batch-interval=20ms", "--warning-apply-duration=40ms"}},
			group: amongQuiet, adds: slowCommit / 4,
			named:  []v1alpha1.Resource{v1alpha1.ResourceDisk},
			missed: []spec.ObjectiveType{spec.ObjectiveBackendCommit, spec.ObjectiveSlowApplies},
		},
		// The interval between puts is longer than an apply. Otherwise most of the time would be waiting, which no
		// metric of a member shows.
		"applying": {
			fault:  fault{apply: slowApply, arguments: []string{"--warning-apply-duration=15ms"}},
			change: rateOf(20), group: amongQuiet, adds: slowApply,
			named: []v1alpha1.Resource{v1alpha1.ResourceApply}, share: [2]int{50, 90},
			missed: []spec.ObjectiveType{spec.ObjectiveSlowApplies},
		},
		"round trips between members": {
			fault: fault{members: 3, peers: slowPeers}, group: amongQuiet, adds: 2 * slowPeers,
			named:  []v1alpha1.Resource{v1alpha1.ResourceNetwork},
			missed: []spec.ObjectiveType{spec.ObjectivePeerRoundTrip},
		},
		// Waits for a processor can take as long as such short round trips.
		"far members": {
			fault: fault{members: 3, peers: farPeers}, group: amongQuiet, adds: 2 * farPeers,
			named: []v1alpha1.Resource{v1alpha1.ResourceNetwork}, mayName: []v1alpha1.Resource{v1alpha1.ResourceUnexplained},
		},
		"the network between clients and members": {
			// Long enough that one of the pings, one a second, is not delayed by the machine. This process delays the
			// traffic. With other trials beside it, the delays would become longer.
			fault: fault{clients: slowClients}, change: lasting(10), group: alone, adds: 2 * slowClients,
			named: []v1alpha1.Resource{v1alpha1.ResourceNetwork}, unexplained: true,
		},
		"a member's processors": {
			fault: fault{neighbours: 16}, group: alone, adds: 2 * time.Millisecond,
			named: []v1alpha1.Resource{v1alpha1.ResourceCPU}, mayName: []v1alpha1.Resource{v1alpha1.ResourceUnexplained},
			missed: []spec.ObjectiveType{spec.ObjectiveMemberCPU},
		},
		"a defragmentation": {
			fault: fault{revisions: manyRevisions}, inWindow: defragment, group: onBusyMachine,
			named: []v1alpha1.Resource{v1alpha1.ResourceMaintenance}, mayName: anything,
		},
		"a compaction": {
			fault: fault{revisions: manyRevisions}, inWindow: compact, group: onBusyMachine,
			named: []v1alpha1.Resource{v1alpha1.ResourceMaintenance}, mayName: anything,
		},
		"a leader that changes": {
			fault: fault{members: 3}, inWindow: changeLeader, group: onBusyMachine, mayName: anything,
			missed:  []spec.ObjectiveType{spec.ObjectiveLeaderChanges},
			mayMiss: []spec.ObjectiveType{spec.ObjectiveFailedProposals, spec.ObjectiveSlowApplies},
		},
		"a quorum that is away": {
			fault: fault{members: 3}, change: withShortTimeout, inWindow: pauseFollowers, group: onBusyMachine, mayName: anything,
			missed:  []spec.ObjectiveType{spec.ObjectiveFailedProposals},
			mayMiss: []spec.ObjectiveType{spec.ObjectiveLeaderChanges, spec.ObjectiveSlowApplies, spec.ObjectivePeerRoundTrip, spec.ObjectiveBackendCommit},
		},
		"large values": {
			change: func(run *v1alpha1.EtcdBenchmark) { valuesOf(64 << 10)(run); rateOf(200)(run) }, group: alone, mayName: anything,
			missed:  []spec.ObjectiveType{spec.ObjectiveMemberMemory, spec.ObjectiveDatabaseGrowth},
			mayMiss: []spec.ObjectiveType{spec.ObjectiveMemberCPU, spec.ObjectiveSlowApplies, spec.ObjectiveBackendCommit},
		},
	}
}

var anything = []v1alpha1.Resource{
	v1alpha1.ResourceDisk, v1alpha1.ResourceNetwork, v1alpha1.ResourceCPU, v1alpha1.ResourceApply, v1alpha1.ResourceUnexplained,
}

// For each fault, the evidence names its resource and the objective that limits it is missed. Nothing else is named or
// missed.
func TestAloneEvidenceAndObjectivesOfFaults(t *testing.T) {
	// The median: one pause of the machine changes the mean.
	quiet := time.Duration(quietRun(t).Status.Summary.Operations[0].ServiceTime.P50Microseconds) * time.Microsecond
	for _, g := range []group{alone, amongQuiet} {
		t.Run(string(g), func(t *testing.T) { g.run(t, quiet) })
	}
}

// No added time is required on a busy machine, so nothing is compared with a quiet run.
func TestEvidenceAndObjectivesOfFaultsOnABusyMachine(t *testing.T) { onBusyMachine.run(t, 0) }

// quietMembers bounds the members of all quiet trials that run at the same time: ten use most of two processors, and then
// round trips between them are rightly named.
var quietMembers = semaphore.NewWeighted(4)

// run runs the trials of a group. quiet is the service time of a put without a fault.
func (g group) run(t *testing.T, quiet time.Duration) {
	for name, tc := range trials() {
		if tc.group == g {
			t.Run(name, func(t *testing.T) { tc.run(t, quiet) })
		}
	}
}

// run requires what the trial says. quiet is the service time of a put without a fault.
func (tc trial) run(t *testing.T, quiet time.Duration) {
	if tc.group != alone {
		t.Parallel()
	}
	if tc.group == amongQuiet {
		members := int64(max(1, tc.fault.members))
		if err := quietMembers.Acquire(t.Context(), members); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { quietMembers.Release(members) })
	}
	if tc.adds > 0 && quiet == 0 {
		t.Fatal("the added time cannot be judged without a run that has no fault")
	}
	run := tc.result(t)
	if got := meanService(run); tc.adds > 0 && (got < tc.adds || got < quiet+tc.adds/2) {
		t.Errorf("a put took %v, and %v without a fault: the fault had no effect", got, quiet)
	}
	requireEvidence(t, run, tc)
	if tc.share[1] > 0 {
		requireShare(t, run, tc.named[0], tc.share[0], tc.share[1])
	}
	requireObjectives(t, run, tc)
}

// result is the result of a run under the fault. A quarter of the usual rate leaves processor time to other trials.
func (tc trial) result(t *testing.T) *v1alpha1.EtcdBenchmark {
	t.Helper()
	mostBusy := 1.0
	if tc.group == amongQuiet {
		mostBusy = 0.6
	}
	return steadily(t, tc.fault, mostBusy, func(cluster *cluster) *v1alpha1.EtcdBenchmark {
		run := puts(cluster, rateOf(50))
		if tc.change != nil {
			tc.change(run)
		}
		return completed(t, run, tc.within(t, cluster))
	})
}

// within returns the action in the window, or nil.
func (tc trial) within(t *testing.T, c *cluster) func() {
	if tc.inWindow == nil {
		return nil
	}
	return func() { tc.inWindow(t, c) }
}

// lasting makes the measured window this long.
func lasting(seconds int32) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.DurationSeconds = &seconds }
}

// rateOf puts a second, evenly.
func rateOf(perSecond int64) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.Rate.PerSecond = perSecond }
}

func changeLeader(t *testing.T, c *cluster) {
	_, followers := c.leader(t)
	c.moveLeader(t, followers[0])
}

func defragment(t *testing.T, c *cluster) {
	if _, err := c.client(t, 0).Defragment(t.Context(), c.members[0].client); err != nil {
		t.Errorf("defragmenting: %v", err)
	}
}

// compact deletes all but the newest revision of each key.
func compact(t *testing.T, c *cluster) {
	client := c.client(t, 0)
	newest, err := client.Get(t.Context(), "history/0")
	if err != nil {
		t.Errorf("reading the revision: %v", err)
		return
	}
	if _, err := client.Compact(t.Context(), newest.Header.Revision); err != nil {
		t.Errorf("compacting: %v", err)
	}
}

// onLeader sends the load to the leader only.
func onLeader(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.Members = spec.MembersLeader }

// withShortTimeout makes clients give up a put after a second.
func withShortTimeout(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.RequestTimeoutSeconds = 1 }

// pauseFollowers pauses the followers for longer than the request time-out, and for less than the election time-out.
func pauseFollowers(t *testing.T, c *cluster) {
	_, followers := c.leader(t)
	c.signal(t, syscall.SIGSTOP, followers...)
	time.AfterFunc(1500*time.Millisecond, func() { c.signal(t, syscall.SIGCONT, followers...) })
}
