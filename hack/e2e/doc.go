// Package e2e holds the tests that need a real Kubernetes and a real etcd:
//
//	go test -tags=e2e -count=1 -v -timeout 15m ./hack/e2e -args -level=quick
//
// Without E2E_CLUSTER they run on the project's own cluster (hack/cluster),
// which they start, and take down again, if it is not up. With
// E2E_CLUSTER=current they run where KUBECONFIG points to, with the image that
// E2E_IMAGE names; scenarios that reach into the node's processes are then left
// out. Either way they own the operator's Helm release while they run.
//
// The level quick is what every change must pass; all adds what is slow or rare.
//
// It may import the API, internal/results and Kubernetes clients: it plays the
// part of a user and looks at the system from outside. Its invariant: nothing
// is waited for by sleeping, and every wait says what it waited for.
package e2e
