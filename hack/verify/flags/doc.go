// Package flags tests that docs/etcd-tool.md explains every flag of etcd's benchmark tool, and no other flag.
//
// It imports nothing of the project, and asks the go command for the tool's sources, at the versions that hack/tools
// builds.
package flags
