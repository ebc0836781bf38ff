package reasons

import "github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"

var verdicts = []Entry{
	{Verdict, v1alpha1.ReasonObjectivesMet, "All objectives are met, the run is `Completed`, and no concern about the whole run applies.", ""},
	{Verdict, v1alpha1.ReasonObjectivesMissed, "At least one objective is missed, even if other reasons apply.", "Read where the time went."},
	{Verdict, v1alpha1.ReasonRegressed, "Only a suite: no run missed an objective, and at least one metric is worse than the tolerance.", "Read the comparison."},
	{Verdict, v1alpha1.ReasonClientBound, "A faster load generator could have changed the result of some objectives, so they are `Unknown`. None is missed. `summary.validity.verdict` says the same about the numbers of any run.", "Look at the cause in `status.summary.validity`. More processors, more pods, or `spec.load.transport: Fast`."},
	{Verdict, v1alpha1.ReasonTailTooThin, "Some objectives are about a percentile of too few requests, so they are `Unknown`. None is missed.", "Measure for longer, or set the limit for a lower percentile."},
	{Verdict, v1alpha1.ReasonNotJudged, "The run cannot pass, although no objective is missed. Either some objectives could not be judged, or the run ended before its work was done.", "Read the objective's message, or repeat the run to its end."},
}

var concerns = []Entry{
	{Concern, v1alpha1.ReasonMembersMissing, "Members behind the target's Service or selector were not ready when the run started, and got no load.", "Make the members ready, and repeat the run. To measure without them, set `spec.target.unreachableMembers: Skip`."},
	{Concern, v1alpha1.ReasonTargetChanged, "One of: another member leads; an election was held; a member's version changed; a voting member was added or removed.", "Repeat the run on a stable target."},
	{Concern, v1alpha1.ReasonTargetNotObserved, "It is unknown whether the target changed. Client pod 0 checks the target each second. At least one of these was reported less than two times: the leader, the version of each member, the voting members. Or the result of client pod 0 came from its termination message, which had no room for these checks.", "Check that all members answer; run longer than a few seconds."},
	{Concern, v1alpha1.ReasonHistoryCompacted, "The history that watchers of `WatchGet` read was compacted before the window's end. After that, the reads were not beside watchers.", "Switch auto-compaction off, or let it keep the history for longer than the run takes."},
	{Concern, v1alpha1.ReasonClockOffset, "A client pod's clock differs from the operator's by more than a limit (`status.pods[].clockOffsetMicroseconds`). The limit is a twentieth of the run's length, but at least 500 ms and at most 5 s.", "Check the time service of the pod's node."},
	{Concern, v1alpha1.ReasonStartsApart, "The last pod started more than 500 ms, and more than a twentieth of the run's length, after the first one.", "Check the nodes' load and clocks."},
}

var causes = []Entry{
	{Cause, string(v1alpha1.CauseThrottled), "The kernel throttled a client pod for over 1 % of the window, because it reached its CPU limit.", "Raise `spec.pod.resources.limits.cpu` or leave it out; more pods."},
	{Cause, string(v1alpha1.CauseBusy), "A client pod used over 85 % of the processor time that it may use.", "More CPU or more pods; `spec.load.transport: Fast`."},
	{Cause, string(v1alpha1.CauseLoop), "Only the transport `Fast`: one event loop was busy for over 85 % of the window.", "More connections, or more pods."},
	{Cause, string(v1alpha1.CauseDelayed), "Work of a client pod waited too long for a processor: above 250 µs per request, and above a tenth of the median service time.", "Give client pods processors of their own: a larger `requests.cpu`, or other nodes than etcd's. Or fewer clients per pod; or `Fast`."},
	{Cause, string(v1alpha1.CauseLate), "Requests were sent too long after they were due, although a client was free.", "Give client pods processors of their own, or use `Fast`."},
	{Cause, string(v1alpha1.CauseUnread), "A figure that is needed for a verdict could not be read.", "Read the message: a pod did not report, the system is not Linux, or the members are embedded in the process."},
}

var evidence = []Entry{
	{Evidence, string(v1alpha1.ResourceDisk), "The mean flush of a member's log, or the mean wait for a commit, takes a tenth of a write's time or more.", "Use a faster disk for etcd's data, and keep other load off that disk."},
	{Evidence, string(v1alpha1.ResourceNetwork), "The mean round trip between members takes a tenth of a write's time or more, or pings show a slow network to the client pods.", "Place the members, or the clients, closer to each other."},
	{Evidence, string(v1alpha1.ResourceCPU), "A member uses 70 % of its processors or more, or a node that it shares with a client pod uses 90 %.", "More processors for the member; other nodes for the client pods."},
	{Evidence, string(v1alpha1.ResourceApply), "The mean apply of a member takes a tenth of a write's time or more, or it spends 70 % of the window applying. A member applies one request at a time.", "Smaller values or transactions, fewer watchers, a faster processor."},
	{Evidence, string(v1alpha1.ResourceMaintenance), "A member was defragmented in the window, or a compaction ran for a tenth of it or more.", "Repeat the run without maintenance, or move the maintenance to quiet hours."},
	{Evidence, string(v1alpha1.ResourceUnexplained), "The leader's metrics explain at most half of a write's time.", "Read the rest of the message: waiting in queues, the network to the client, or a busy node."},
}
