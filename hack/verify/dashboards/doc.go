// Package dashboards tests the chart's dashboards and the examples of docs/prometheus.md: each query runs against a
// Prometheus that has scraped a real operator and real client pods on a real etcd, and returns data. There is no cluster:
// the test makes a process of each client pod, on an address of the loopback interface. It has only tests;
// `make test-prometheus` runs them.
package dashboards
