// Package flags tests that docs/workloads.md says of every flag of etcd's
// benchmark tool what it is here, and of no other.
//
// It imports nothing of the project, and asks the go command for the
// tool's sources, at the versions that hack/tools builds. Its one invariant: the
// flags are those of the sources, never of a list beside them.
package flags
