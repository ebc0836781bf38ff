//lint:file-ignore SA1019 Grafana 10 and 11 read only this schema.

package main

import "github.com/grafana/grafana-foundation-sdk/go/dashboard"

// shortest is the interval at which the chart's PodMonitor scrapes client pods.
const shortest = "5s"

// ofRun is a metric of the client pods of the selected run.
func ofRun(name string, more ...string) series {
	s := series{name, `namespace="$namespace", etcdbench_dev_run_name="$run"`}
	for _, matcher := range more {
		s.matchers += ", " + matcher
	}
	return s
}

const runNote = `Prometheus sees a run only while its client pods exist, and scrapes them every few seconds. **A run that measures for less than 30 s shows little here.** ` +
	`The result of the run is exact and independent of Prometheus: ` + "`kubectl etcdbench report NAME`" + `. What the metrics mean: docs/prometheus.md.`

// oneRun shows the client pods of one run while they measure.
func oneRun() *dashboard.DashboardBuilder {
	latency := ofRun("etcdbench_request_duration_seconds")
	return page("etcdbench-run", "etcd benchmark / one run", "The client pods of one EtcdBenchmark, from the PodMonitor. Runs of less than 30 s show little.").
		Time("now-15m", "now").Refresh("10s").
		WithVariable(choice("namespace", "Namespace", series{"etcdbench_pod_info", `etcdbench_dev_run_name!=""`}, "namespace")).
		WithVariable(choice("run", "Run", series{"etcdbench_pod_info", `namespace="$namespace"`}, "etcdbench_dev_run_name")).
		WithPanel(note(runNote)).
		WithPanel(graph("Throughput", "Successful measured requests per second, by operation.", unitPerSecond,
			query{eventRate(latency, "operation"), "{{operation}}"}).Interval(shortest)).
		WithPanel(graph("Errors", "Failed measured requests per second, by operation and gRPC status code.", unitPerSecond,
			query{rate(ofRun("etcdbench_request_errors_total"), "operation", "code"), "{{operation}} {{code}}"}).Interval(shortest)).
		WithPanel(logarithmic(graph("Latency", "Time from when a request was due to the end of its response. "+
			"Successful measured requests only. Classic histograms have one bucket per doubling, so their "+
			"percentiles are coarse.", unitSeconds,
			query{quantile(0.5, latency, "operation"), "{{operation}} p50"}, query{quantile(0.9, latency, "operation"), "{{operation}} p90"},
			query{quantile(0.99, latency, "operation"), "{{operation}} p99"}).Interval(shortest))).
		WithPanel(heat("Latency of all requests", "Successful measured requests by latency.", latency).Interval(shortest)).
		WithPanel(logarithmic(graph("Latency and service time, p99", "The service time begins when a request is "+
			"sent. If the latency is much higher, requests wait in the load generator: it may be the limit, or the "+
			"target is slower than the rate.", unitSeconds,
			query{quantile(0.99, latency), "latency"}, query{quantile(0.99, ofRun("etcdbench_request_service_duration_seconds")), "service time"}).Interval(shortest))).
		WithPanel(logarithmic(graph("Lateness, p99", "Time from when a request was due and a client was free to when it was sent. It is caused by the load generator.", unitSeconds,
			query{quantile(0.99, ofRun("etcdbench_request_lateness_seconds"), "operation"), "{{operation}}"}).Interval(shortest))).
		WithPanel(graph("Requests sent, by phase", "All requests to the target: also those that write keys before "+
			"the load (preload) and those of the warm-up, and calls that control the run.", unitPerSecond,
			query{rate(ofRun("etcdbench_requests_total"), "rpc", "phase"), "{{rpc}} {{phase}}"}).Interval(shortest)).
		WithPanel(stacked(graph("Stages of the client pods", "How many client pods are in each stage.", unitCount,
			query{"count by (stage) (" + ofRun("etcdbench_stage").String() + " == 1)", "{{stage}}"}).Interval(shortest)))
}
