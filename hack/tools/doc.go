// Command tools builds the programs that development needs besides the Go toolchain: the Kubernetes binaries of
// hack/cluster and envtest, etcd, Helm, the generators and the linters. Each comes from the Go module proxy alone, at
// the version that the go.mod of its folder pins, and lands in bin/tools/NAME as a static binary. Some are Debian's own,
// at the version that the host's sources have: the etcd and the ZooKeeper that its users run.
//
//	go run ./hack/tools                 lists what there is
//	go run ./hack/tools NAME|GROUP...   builds what is missing or out of date
//
// bin/tools therefore also serves as envtest's KUBEBUILDER_ASSETS.
//
// It may import the standard library and golang.org/x/mod.
//
// Invariant: a binary under its final name is complete and belongs to the stamp beside it; whatever was interrupted
// is built again.
package main
