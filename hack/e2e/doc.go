// Package e2e has the tests that need a real Kubernetes and a real etcd:
//
//	go test -tags=e2e -count=1 -v -timeout 15m ./hack/e2e -args -level=quick
//
// Without E2E_CLUSTER they run on the project's own cluster (hack/cluster). If it is not up, they start it and take it
// down again. With E2E_CLUSTER=current they run on the cluster of KUBECONFIG, with the image in E2E_IMAGE, and skip
// scenarios that access the node's processes. In both cases they own the operator's Helm release while they run.
//
// The level quick is required for every change; all adds slow and rare scenarios.
//
// It may import the API, internal/results, packages for tests and Kubernetes clients: it acts as a user and observes the system from
// outside. Its invariant: no test waits by sleeping, and every wait reports what it waited for.
package e2e
