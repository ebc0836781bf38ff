// Package namespaces finds out which of the operator's namespaces it may read, and notices when that changes. A cache that
// includes a namespace without the right to read it never becomes ready, and no controller starts. So the operator leaves
// such a namespace out, and starts again when it may read it.
//
// It imports a Kubernetes client. Only the API server's refusal makes a namespace unreadable, and no other error.
package namespaces
