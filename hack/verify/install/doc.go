// Package install tests the installation: the Helm chart and kustomize install the same objects, their CRD and RBAC are
// the generated ones, the admission policies work on a real API server, and that server accepts every sample.
//
// It imports the API and a Kubernetes client, and runs the programs in bin/tools.
package install
