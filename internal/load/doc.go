// Package load is the load generator's engine. It runs one client pod's part of a plan against a driver, from the first
// connection to the last deleted key, and counts the results.
//
// It imports plan, workload, results and its own packages: arrival, guard and members, which are pure, process and
// tuning. It never imports a datastore, Kubernetes or etcd; the wiring in cmd passes a Driver. Every request that is
// due in the measured window is counted exactly once, as a success, as failed, or as censored.
package load
