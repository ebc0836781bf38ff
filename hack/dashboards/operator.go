//lint:file-ignore SA1019 Grafana 10 and 11 read only this schema.

package main

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// ofOperator is a metric of the operator's process.
func ofOperator(name string) series {
	return series{name, `namespace="$namespace", job="$job"`}
}

// operator shows the work and the health of the operator.
func operator() *dashboard.DashboardBuilder {
	// The label namespace of these gauges is that of the runs.
	runs, oldest := series{"etcdbench_runs", `job="$job", state!="Finished"`}, series{"etcdbench_queue_oldest_timestamp_seconds", `job="$job"`}
	return page("etcdbench-operator", "etcd benchmark / operator", "The work and the health of the operator, from its own metrics.").
		Time("now-6h", "now").Refresh("30s").
		WithVariable(choice("namespace", "Operator's namespace", series{"etcdbench_pod_scrape_errors_total", ""}, "namespace")).
		WithVariable(choice("job", "Job", series{"etcdbench_pod_scrape_errors_total", `namespace="$namespace"`}, "job")).
		WithPanel(stacked(graph("Runs that have not finished", "EtcdBenchmarks of all namespaces, by state.", unitCount,
			query{"sum by (state) (" + runs.String() + ")", "{{state}}"}))).
		WithPanel(graph("Longest wait in the queue", "Since when the run waits that has been in the queue for the longest time, by namespace.", unitSeconds,
			query{"time() - min by (namespace) (" + oldest.String() + ")", "{{namespace}}"})).
		WithPanel(graph("Runs that finished", "By the reason of their condition Finished.", unitCount,
			query{"sum by (reason) (increase(" + ofOperator("etcdbench_runs_finished_total").String() + during + "))", "{{reason}}"})).
		WithPanel(graph("Failed scrapes of client pods", "By reason. A few failures per run are normal: a pod is scraped before it listens.", unitPerSecond,
			query{rate(ofOperator("etcdbench_pod_scrape_errors_total"), "reason"), "{{reason}}"})).
		WithPanel(logarithmic(graph("Duration of scrapes", "How long the operator took to read the numbers of a client pod.", unitSeconds,
			query{quantile(0.5, ofOperator("etcdbench_pod_scrape_duration_seconds")), "p50"}, query{quantile(0.99, ofOperator("etcdbench_pod_scrape_duration_seconds")), "p99"}))).
		WithPanel(graph("Reconciles", "Steps per second, by controller and result.", unitPerSecond,
			query{rate(ofOperator("controller_runtime_reconcile_total"), "controller", "result"), "{{controller}} {{result}}"})).
		WithPanel(logarithmic(graph("Duration of reconciles, p99", "By controller.", unitSeconds,
			query{quantile(0.99, ofOperator("controller_runtime_reconcile_time_seconds"), "controller"), "{{controller}}"}))).
		WithPanel(graph("Work queues", "Objects that wait for a reconcile, and how long the longest running reconcile has taken so far.", unitCount,
			query{"sum by (name) (" + ofOperator("workqueue_depth").String() + ")", "{{name}} waiting"},
			query{"max by (name) (" + ofOperator("workqueue_longest_running_processor_seconds").String() + ")", "{{name}} longest, in s"})).
		WithPanel(graph("Requests to the API server", "By method and HTTP status code.", unitPerSecond,
			query{rate(ofOperator("rest_client_requests_total"), "method", "code"), "{{method}} {{code}}"})).
		WithPanel(graph("Processors", "How many processors the operator used.", unitCount,
			query{rate(ofOperator("process_cpu_seconds_total"), "pod"), "{{pod}}"})).
		WithPanel(graph("Memory", "Resident memory of the operator.", unitBytes,
			query{"sum by (pod) (" + ofOperator("process_resident_memory_bytes").String() + ")", "{{pod}}"})).
		WithPanel(graph("Goroutines", "Goroutines of the operator.", unitCount,
			query{"sum by (pod) (" + ofOperator("go_goroutines").String() + ")", "{{pod}}"}))
}
