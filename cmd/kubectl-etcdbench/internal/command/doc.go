// Package command is the command line of kubectl-etcdbench: flags, output and exit status.
//
// It imports the packages beside it and Kubernetes's helpers for command lines. Standard output carries only the
// result.
package command
