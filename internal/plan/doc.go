// Package plan is the contract from the operator to a client pod: the work of one run, and the files, annotations and
// addresses through which the two communicate.
//
// It imports the standard library, the vocabulary (spec) and workload, so that the load generator stays free of
// Kubernetes. The parts of all pods add up to exactly the plan.
package plan
