// Command loadgen is the client pod. It runs one part of a run's plan, serves its numbers as metrics, and writes them
// as its termination message.
//
// It connects internal/load to internal/datastore and to the files through which the operator controls it
// (internal/plan); it never imports Kubernetes. Unless it is killed by SIGKILL, it writes its termination message
// before it exits.
package main
