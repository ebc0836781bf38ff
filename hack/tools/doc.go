// Command tools builds the programs that development needs besides the Go toolchain: the Kubernetes binaries of
// hack/cluster and envtest, etcd, Helm, the generators and the linters. Each comes only from the Go module proxy, at
// the version that the go.mod of its folder pins, and is installed as the static binary bin/tools/NAME. Some come from
// Debian instead, at the version that the host's package sources have: the etcd and the ZooKeeper that Debian's users
// run, and the browser that tests reports. A script comes from an npm package, pinned with its digest.
//
//	go run ./hack/tools                 lists the tools
//	go run ./hack/tools NAME|GROUP...   builds what is missing or out of date
//
// bin/tools therefore also serves as envtest's KUBEBUILDER_ASSETS.
//
// It may import the standard library and golang.org/x/mod.
//
// Invariant: a binary under its final name is complete and belongs to the stamp beside it. An interrupted build is
// repeated.
package main
