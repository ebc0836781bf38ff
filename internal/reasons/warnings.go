package reasons

import "strings"

// warning explains the warnings in status.summary.warnings that contain a text.
type warning struct {
	name string
	// part is a part of the sentence that is always the same.
	part            string
	meaning, action string
}

var warnings = []warning{
	{"MixedTransports", "client pods used different transports", "The pods' latencies were measured in different ways, so the merged ones are not meaningful.", "Use one client image for all pods, and repeat the run."},
	{"LongTail", "the last pod ended", "The pods of a run bound by requests did not end together. The throughput counts the time until the last one.", "Use `steadyThroughputPerSecond`, or `spec.load.durationSeconds`."},
	{"StartSkew", "the last pod started", "Until the last pod had started, the load was lower than requested.", "Check the nodes' load and clocks; measure for longer."},
	{"Silence", "no request succeeded for", "The target answered no request for a while, and then did again.", "Read `OVER TIME`, and the members' logs at that time: an election, a defragmentation or a stalled disk."},
	{"CourseMissing", "the course of some client pods is unknown", "The numbers of `OVER TIME` lack client pods. The summary is complete.", "Repeat the run if you need its course."},
	{"DelaySuspected", "per request for a processor", "The waits for a processor were short. But many requests were in flight, and the waits of all may add up.", "Give client pods processors of their own, or fewer clients per pod."},
	{"DifferentVersions", "the members run different versions", "The result mixes the versions of etcd.", "Finish the upgrade, and repeat the run."},
	{"QuotaUnknown", "reported no quota", "Nothing checked whether the writes fit into the quota.", "Compare the estimate in the message with `--quota-backend-bytes`."},
	{"ChangeDuringRun", "the target changed during the run", "The leader, a version or the members changed: the numbers mix the time before and after.", "Repeat the run on a stable target."},
	{"LeaderChanges", "the leader changed in the measured window", "The members counted an election in the window.", "Repeat the run on a stable target."},
	{"MemberGone", "and not at its end", "At the end of the window a member's metrics could not be read. It may have stopped, been cut off, or been too slow.", "Read its log, and the events of its pod, at that time."},
	{"MemberRestarted", "restarted in the measured window", "The member ended and started again. Its figures are not known.", "Read its log and why its pod restarted: for example, it may have had too little memory."},
	{"DataInMemory", "a flush of the log takes less than", "The members' data lies in memory, or flushes are switched off. An etcd on a disk is slower.", "Do not compare these numbers with those of an etcd on a disk."},
	{"RuleNotChecked", "check its rule", "The message says whether the rule was never checked, or not always: its values could not be read. During that time it did not protect the target.", "Check that client pod 0 reaches all members and their metrics."},
	{"MembersNotListed", "the target's members could not be listed", "A member without an address in the target may be missing in the result.", "Check the permissions of the user."},
	{"NotLocked", "the target has no lock that keeps other runs away", "Another run may have loaded the target at the same time.", "Check that no other run used this target. To hold the lock, an etcd must serve leases, and a ZooKeeper user must be allowed to create `/etcdbench-lock`."},
	{"EarlierKeys", "earlier runs at its addresses may still have had keys", "Cleanup Jobs of earlier runs may have deleted keys in the measured window.", "Find out why these Jobs did not end (`kubectl get jobs`), and repeat the run."},
	{"NotObserved", "the target was not observed often enough", "A change of the target during the run cannot be ruled out.", "Check that all members answer; run longer than a few seconds."},
	{"MemberSkipped", "an address of the target did not answer when client pods started", "`spec.target.unreachableMembers` is `Skip`. The numbers are those of the other members.", "Start the member, or remove its address."},
	{"LearnerSkipped", "leads to a learner", "A learner is a member without a vote. It refuses writes, so it got neither load nor control requests.", "Remove its address, or promote it before the run."},
	{"StatusNotRead", "this user may not send the request Status", "The members' status is unknown, because some versions of etcd let only `root` read it.", "Read in the message what is not known. Update etcd, or use a user with the role `root` on a test cluster."},
	{"SharedAddress", "an address of the target leads to several members", "Something behind the address, such as a load balancer, chooses the member. The load reached the members that the message names.", "To get the figures of each member, name an address for each member that leads only to that member."},
	{"MemberWithoutLoad", "no address of the target reaches its member", "This member got no load.", "Add its address to `spec.target.endpoints`, or make it ready."},
	{"TokenRefused", "the target refused the token of requests", "A token of etcd's authentication expired earlier than it said, or users or roles of etcd were changed. Client pods logged in again and sent the requests again. These requests count once, and their latency includes that. REQUESTS SENT counts each of them twice.", "Change no users during a run. Give etcd's option `--auth-token` a lifetime (`ttl`) of at least a minute."},
	{"CoarseTimer", "client pods had no exact kernel timer", "Requests were sent up to 1 ms late. Lateness and latency include that.", "Run client pods on Linux."},
	{"PartsOmitted", "these parts of the result are missing", "A termination message had no room for these parts, because the operator could not read the pod's metrics.", "Check network policies between the operator and the client pods."},
	{"EventsMissed", "watchers missed", "Expected events did not arrive before the end.", "Measure for longer, or reduce the rate."},
	{"WatchersCancelled", "etcd cancelled watchers", "etcd ended watches, and client pods opened them again.", "Let auto-compaction keep more history."},
	{"WatchersResumed", "watchers were resumed", "The stream of watchers broke, and events came late.", "Check the network and the members."},
	{"WatchHistoryCompacted", "the history that watchers read was compacted", "After the compaction the load ran without watchers.", "Switch auto-compaction off, or let it keep the history for longer than the run takes."},
	{"EventsTwice", "watchers received", "Events arrived twice, after a broken stream.", "Check the network and the members."},
	{"RequestsFailed", "requests failed (", "Some requests failed. The message has their number, and the most frequent error with an example of its message.", "Look up the error: for example `ResourceExhausted` means that etcd has no space left or is overloaded."},
	{"EventsNotCounted", "it is not known whether the failed or unanswered puts caused events", "Puts failed or had no response, so it is unknown how many events were due.", "Look at the failed puts first."},
	{"CoarsePercentiles", "percentiles come from termination messages", "The percentiles are less exact than usual, because the operator could not read the pod's metrics.", "Check network policies between the operator and the client pods."},
	{"DisturbanceMissing", "reported no disturbance of type", "A requested disturbance did not happen, because the window was over first.", "Measure for longer, or lower `everySeconds`."},
	{"ReportMissing", "The report could not be written", "The summary is complete, but histograms and course are missing.", "Read the error in the message: often a quota or a policy of the namespace."},
	{"DetailLost", "The operator restarted after a client pod was lost", "The operator had saved the summary before it restarted. Histograms and course lack the lost pod.", "Repeat the run if you need them."},
	{"EmbeddedMembers", "The members were embedded", "Load generator and members shared one process, so each slowed down the other.", "Compare these numbers only with those of other runs with embedded members."},
	{"OneMachine", "ran on one machine and shared its CPUs", "Load generator and members shared one machine, so each slowed down the other.", "Run the load generator on another machine."},
	{"DisturbanceLeftOut", "left out, because the previous one still ran", "A disturbance was due while another of its type still ran.", "Raise `everySeconds`."},
}

// ofWarnings returns the warnings as entries.
func ofWarnings() []Entry {
	var out []Entry
	for _, w := range warnings {
		out = append(out, Entry{Warning, w.name, w.meaning, w.action})
	}
	return out
}

// OfWarning returns the entry for the text of a warning.
func OfWarning(text string) (Entry, bool) {
	for i, w := range warnings {
		if strings.Contains(text, w.part) {
			return ofWarnings()[i], true
		}
	}
	return Entry{}, false
}

// MeaningOfWarning says what a kind of warning means; it repeats the kind if that has no entry.
func MeaningOfWarning(kind string) string {
	for _, w := range warnings {
		if w.name == kind {
			return w.meaning
		}
	}
	return kind
}
