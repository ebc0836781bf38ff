// Command loadgen is the client pod: it runs one part of a run's plan, serves
// its numbers as metrics, and leaves them as its termination message too.
//
// It wires internal/load to internal/datastore and to the files through which
// the operator speaks (internal/plan); it never imports Kubernetes. Its one
// invariant: however it ends, short of SIGKILL, its last words are written
// first.
package main
