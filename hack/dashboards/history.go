//lint:file-ignore SA1019 Grafana 10 and 11 read only this schema.

package main

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// ofSchedule is a gauge of the selected schedules.
func ofSchedule(name string, more ...string) series {
	s := series{name, `namespace="$namespace", schedule=~"$schedule"`}
	for _, matcher := range more {
		s.matchers += ", " + matcher
	}
	return s
}

// history shows what the operator knows about suites and schedules.
func history() *dashboard.DashboardBuilder {
	inNamespace := `namespace="$namespace"`
	const ofSeries = "{{schedule}} {{cell}} {{operation}} {{statistic}}"
	return page("etcdbench-history", "etcd benchmark / suites and history", "The last numbers of each EtcdBenchmarkSchedule the state of suites, and the last single runs, from the operator's metrics.").
		Time("now-30d", "now").Refresh("5m").
		WithVariable(choice("namespace", "Namespace", series{"", `__name__=~"etcdbench_suites|etcdbench_schedule_suspended|etcdbench_last_run_completed"`}, "namespace")).
		WithVariable(choice("schedule", "Schedule", series{"etcdbench_schedule_suspended", inNamespace}, "schedule").Multi(true).IncludeAll(true).AllValue(".*")).
		WithPanel(number("Passed", "1 if the last session passed, 0 if it missed an objective or regressed.", unitCount,
			query{ofSchedule("etcdbench_schedule_passed").String(), "{{schedule}}"})).
		WithPanel(number("Last success", "When the last session that passed ended.", unitTime,
			query{"1000 * " + ofSchedule("etcdbench_schedule_last_success_timestamp_seconds").String(), "{{schedule}}"})).
		WithPanel(number("Next session", "When the next session should start. It is in the past if an earlier session still runs.", unitTime,
			query{"1000 * " + ofSchedule("etcdbench_schedule_next_timestamp_seconds").String(), "{{schedule}}"})).
		WithPanel(number("Cannot run, or suspended", "1 if the schedule is stalled or suspended.", unitCount,
			query{"max by (schedule) (" + ofSchedule("etcdbench_schedule_stalled").String() + " or " + ofSchedule("etcdbench_schedule_suspended").String() + ")", "{{schedule}}"})).
		WithPanel(graph("Throughput of sessions", "The last number of each series: the throughput, or the highest rate that a search found.", unitPerSecond,
			query{ofSchedule("etcdbench_schedule_value", `type!="Latency"`).String(), ofSeries})).
		WithPanel(graph("Latency of sessions", "The last number of each series.", unitSeconds,
			query{ofSchedule("etcdbench_schedule_value", `type="Latency"`).String(), ofSeries})).
		WithPanel(states("Worse than expected", "Whether the last number of each series is worse than the earlier ones predict. Known from nine sessions on.", "as expected", "worse",
			query{ofSchedule("etcdbench_schedule_worse").String(), ofSeries})).
		WithPanel(states("Worse for good", "The condition TrendBroken of each schedule. Known from ten sessions on.", "as before", "worse for good",
			query{ofSchedule("etcdbench_schedule_trend_broken").String(), "{{schedule}}"})).
		WithPanel(stacked(graph("Suites by state", "The EtcdBenchmarkSuites that exist.", unitCount,
			query{"sum by (state) (" + series{"etcdbench_suites", inNamespace}.String() + ")", "{{state}}"}))).
		WithPanel(states("Suites that passed", "The verdict of each suite that exists and that no schedule created.", "missed or regressed", "passed",
			query{series{"etcdbench_suite_passed", inNamespace}.String(), "{{suite}}"})).
		WithPanel(graph("Throughput of single runs", "The last run of each name.", unitPerSecond,
			query{series{"etcdbench_last_run_requests_per_second", inNamespace}.String(), "{{run}} {{operation}}"})).
		WithPanel(graph("Latency of single runs", "The last run of each name.", unitSeconds,
			query{series{"etcdbench_last_run_latency_seconds", inNamespace}.String(), "{{run}} {{operation}} {{statistic}}"})).
		WithPanel(states("Single runs that completed", "The last run of each name.", "did not complete", "completed",
			query{series{"etcdbench_last_run_completed", inNamespace}.String(), "{{run}}"}))
}
