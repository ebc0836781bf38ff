// Package spec is the vocabulary of a run: workload, keys, values, load,
// disturbances and guard. The API, the plan that a client pod reads, and the
// engine use these types as they are.
//
// It imports the standard library only, so that the load generator stays free of
// Kubernetes; the markers in its comments become the schema of the API. Its one
// invariant: every setting of a run has one name, here.
//
// +kubebuilder:object:generate=true
// +groupName=etcdbench.dev
// +versionName=v1alpha1
package spec
