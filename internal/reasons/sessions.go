package reasons

import "github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"

var suiteEnds = []Entry{
	{SuiteEnd, v1alpha1.ReasonInvalidCell, "The API server refuses the run of a cell, or no result of the suite is possible. No run starts.", "Read the message: it names the cell. `kubectl etcdbench plan -f FILE` checks a suite without running it."},
	{SuiteEnd, v1alpha1.ReasonRunFailed, "A run of the suite could not do its load, and `spec.onRunFailed` is `Stop`.", "Look at the last run of the table."},
	{SuiteEnd, v1alpha1.ReasonDeleted, "Only in suites and schedules: a user deleted the run of a suite, or the session of a schedule, before it ended.", ""},
	{SuiteEnd, v1alpha1.ReasonRefused, "The API server refused to create the run, or the suite of a schedule.", "Read the message: often a policy or a quota has changed."},
}

var comparisons = []Entry{
	{Comparison, string(v1alpha1.ReasonTooFewRounds), "Too few rounds to decide: fewer than three are valid, or more are needed because the change is close to the tolerance.", "Add the number of rounds that the message names."},
	{Comparison, string(v1alpha1.ReasonNoisy), "The rounds differ too much from each other, or the change is close to the tolerance. Even 50 rounds would not decide.", "Longer runs, a quieter machine, or a wider tolerance."},
	{Comparison, string(v1alpha1.ReasonNotConcurrent), "Two runs overlapped, or a run of a later round began before an earlier round was over: the sides did not take turns.", "Run baseline and candidate in turn, one at a time."},
	{Comparison, string(v1alpha1.ReasonEnvironmentDiffers), "Something else than the target makes the two sides incomparable. The message names it.", "Run both sides in one environment, on one machine, or all client pods on nodes of one type (`spec.pod.nodeSelector`)."},
	{Comparison, string(v1alpha1.ReasonExclusionsDiffer), "More runs of one side were invalid than of the other.", "Find out why these runs are invalid; repeat the comparison."},
	{Comparison, string(v1alpha1.ReasonComparedTailTooThin), "Fewer than ten requests lie above the percentile.", "Longer runs, or a lower percentile."},
	{Comparison, string(v1alpha1.ReasonNotInformative), "The load has a fixed rate that both sides reached, so the throughput is what was asked for.", "Compare a latency."},
	{Comparison, string(v1alpha1.ReasonUnanswered), "Requests failed, or were unanswered when a run ended. The true value of the metric may be greater, and that could change the verdict.", "Longer runs."},
	{Comparison, string(v1alpha1.ReasonComparedClientBound), "The load generator may have hidden a change: it may have added too much of the latency, or not alike on both sides. How much it added to a percentile is not known.", "More processors for the load generator. Compare the throughput or the mean."},
	{Comparison, string(v1alpha1.ReasonNotMeasured), "A run does not have this number, or a side has no run whose numbers can be compared.", "Compare a metric that all runs have, and look at the runs that are invalid."},
}

var searches = []Entry{
	{Search, string(v1alpha1.CapacitySearching), "More probes follow.", ""},
	{Search, string(v1alpha1.CapacityFound), "The rate meets all objectives, further probes confirm it, and a slightly higher rate misses one.", ""},
	{Search, string(v1alpha1.CapacityAtLeast), "The highest rate that was allowed meets all objectives.", "Raise `--max-rate` or `search.maxPerSecond`."},
	{Search, string(v1alpha1.CapacityBelowMinimum), "No rate that was allowed meets the objectives.", "Lower `--min-rate` or `search.minPerSecond`, or relax the objectives."},
	{Search, string(v1alpha1.CapacityUnstable), "A rate met the objectives once and missed them later, or a rate missed them below one that met: at the end, the target may have become slower.", "Use longer probes and a quieter machine, and search again."},
	{Search, string(v1alpha1.CapacityUnknown), "A probe could not be judged or could not do its load, the probes are used up, or the search was stopped.", "Read `limitedBy`: often the load generator was the limit."},
}

var schedules = []Entry{
	{Schedule, v1alpha1.ReasonInvalidSchedule, "`Stalled`: `spec.schedule`, `spec.timeZone` or `spec.metrics` cannot be used.", "Correct the field that the message names."},
	{Schedule, v1alpha1.ReasonAsExpected, "`Suspect` is False: the numbers of the last session are within the range of those before.", ""},
	{Schedule, v1alpha1.ReasonWorse, "`Suspect` is True: at least one number of the last session is worse than expected. Another session starts at once, to confirm it.", "Wait for that session."},
	{Schedule, v1alpha1.ReasonNoNumbers, "`Suspect` is Unknown: the last session has no valid numbers.", "Look at the runs of the session: `kubectl etcdbench watch suite/NAME`."},
	{Schedule, v1alpha1.ReasonConfirmed, "`TrendBroken` is True: two sessions in a row were worse than expected, and no later session was as good as before.", "Find out what changed, or acknowledge it (`spec.acknowledgements`)."},
	{Schedule, v1alpha1.ReasonChanged, "`TrendBroken` is True: the numbers of the history became worse, and have not recovered.", "Look at `status.changes`, and acknowledge a change that is known."},
	{Schedule, v1alpha1.ReasonUnchanged, "`TrendBroken` is False: the history has no such change.", ""},
	{Schedule, v1alpha1.ReasonTooFewSessions, "Unknown: the history is too short to say.", "Wait for more sessions."},
}
