// Package main writes the chart's Grafana dashboards, as JSON, into a folder:
//
//	go run ./hack/dashboards charts/etcd-benchmark-operator/generated/dashboards
//
// `make manifests` runs it. Every query returns data while there is something to show, whether Prometheus stores native
// histograms, classic ones or both; hack/verify/dashboards runs each query against a Prometheus that has scraped real
// runs.
package main
