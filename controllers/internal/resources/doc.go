// Package resources builds the objects of a run: the ConfigMaps for its plan and its report, the load Job and the
// cleanup Job.
//
// The package is pure: it imports the API, the contracts with the pods and Kubernetes types, but no client, context,
// clock, logger or goroutine. The same run and addresses always produce the same objects, and every object has the
// labels that the operator's caches select.
package resources
