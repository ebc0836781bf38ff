// Package collector scrapes the client pods of the runs that go on, on its own
// goroutines, and hands the newest snapshot of each pod over to the reconciler,
// which it wakes by events.
//
// It imports the contracts with the pods and controller-runtime's event type,
// and no Kubernetes client. Its one invariant: of a pod that can be asked it holds
// nothing that a new operator could not get again, for the pod serves its final
// metrics until it is told that they are kept, and leaves them in its termination
// message as well. Of any other pod it holds what it told last until the run is
// forgotten, for the reconciler to keep in status.
package collector
