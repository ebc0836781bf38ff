// Package prometheustest runs a real Prometheus for tests. It makes the scrape configuration that the Prometheus operator
// would make of the chart's monitors, and runs the queries of dashboards.
//
// Only tests import it.
package prometheustest
