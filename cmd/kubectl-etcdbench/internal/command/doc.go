// Package command is the command line of kubectl-etcdbench: flags, what is
// printed where, and the exit status.
//
// It imports the packages beside it and Kubernetes's helpers for command
// lines. Its one invariant: standard output carries the result and nothing
// else.
package command
