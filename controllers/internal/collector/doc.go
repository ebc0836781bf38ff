// Package collector scrapes the client pods of the runs that go on, on its own
// goroutines, and hands the newest snapshot of each pod over to the reconciler,
// which it wakes by events.
//
// It imports the contracts with the pods and controller-runtime's event type,
// and no Kubernetes client. Its one invariant: it holds nothing that a new
// operator could not get again, so that losing it loses no result: a pod serves
// its final metrics until it is told that they are kept, and leaves them in its
// termination message as well.
package collector
