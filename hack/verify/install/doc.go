// Package install tests what gets installed: that the Helm chart and kustomize
// install the same, that their CRD and RBAC are the generated ones, that the
// admission policies do what they say on a real API server, and that it takes
// every sample.
//
// It imports the API and a Kubernetes client, and runs the programs in
// bin/tools. Its one invariant: it renders what a user would apply, never a
// copy of it.
package install
