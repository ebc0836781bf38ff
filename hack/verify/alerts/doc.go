// Package alerts tests the chart's alerts with promtool. It has only tests; `make test-prometheus` runs them.
package alerts
