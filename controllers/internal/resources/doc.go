// Package resources builds the objects of a run: the ConfigMaps with its plan
// and its report, the load Job and the cleanup Job.
//
// It is pure: it imports the API, the contracts with the pods and Kubernetes
// types, and no client, context, clock, logger or goroutine. Its one invariant:
// the same run and the same addresses always give the same objects, and every
// object carries the labels by which the operator's caches select.
package resources
