// Package collector scrapes the client pods of active runs on its own goroutines. It passes the newest snapshot of each
// pod to the reconciler, which it triggers by events.
//
// It imports the contracts with the pods and controller-runtime's event type, but no Kubernetes client. Its one
// invariant: everything it holds about a reachable pod can be read again by a restarted operator. A pod serves its
// final metrics until the operator has saved them, and it also writes them to its termination message. For an
// unreachable pod, the collector holds the last scrape until the run is forgotten, so that the reconciler can save it
// in status.
package collector
