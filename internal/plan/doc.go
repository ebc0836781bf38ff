// Package plan is the contract from the operator to a client pod: what one run
// is to do, and the files, annotations and addresses through which the two
// talk.
//
// It imports the standard library, the vocabulary (spec) and workload, so that the
// load generator stays free of Kubernetes. Its one invariant: the parts of all
// pods, added up, are exactly the plan.
package plan
