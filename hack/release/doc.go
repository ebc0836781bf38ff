// Command release writes the files of a release into dist: the kubectl plugin for each platform, the operator's image
// for linux/amd64 and linux/arm64, the Helm chart, the manifests for kubectl apply, a JSON Schema of each kind, krew's manifest, a list
// of images, a software bill of materials, and the checksums of all of them. docs/release.md describes each file.
//
//	go run ./hack/release -version v0.1.0
//
// It needs Go, git and bin/tools/helm. It uses neither a container engine nor a registry, and publishes nothing.
//
// It may import libraries for the formats that it writes. It imports no package of the project.
//
// Invariant: the files depend only on the commit, the flags and the version of Go. The time in them is the commit's
// time, or SOURCE_DATE_EPOCH. The folder dist is replaced only after every file was written and checked.
package main
