// Command cluster runs a real one-node Kubernetes on a bare Debian host, as root, from package registries only: no
// Docker, no container registry. Control plane, kubelet and kube-proxy are built from modules (hack/tools); containerd,
// runc and the CNI plugins come from apt.
//
//	go run ./hack/cluster up                            start the cluster, or verify that it is up
//	go run ./hack/cluster check                         report what keeps a cluster from starting here; change nothing
//	go run ./hack/cluster down                          end it and restore the host
//	go run ./hack/cluster status                        list the daemons; fails if one is missing
//	go run ./hack/cluster load-image ARCHIVE            import an image archive (OCI or docker)
//	go run ./hack/cluster build-image -f FILE -t TAG CONTEXT
//	go run ./hack/cluster verify-clean                  up, down, and compare the host before and after
//
// It may import the standard library, small libraries, internal/certificates and internal/freeport, so that it runs before
// the rest of the project builds.
//
// Locations: logs, certificates, the kubeconfig and images lie in bin/cluster of the checkout. Sockets, pids and the
// journal of changes to the host lie in /run/etcdbench-cluster, because a unix socket's path is limited to 108 bytes
// and both end with a reboot. The kubelet's folder is /var/lib/etcdbench-cluster, because of the same limit. All
// traffic stays inside 198.18.0.0/15, which a blackhole route keeps on this host.
//
// Invariant: every change to the host is in the journal before it is made, and down undoes all changes in the journal,
// even after a crash.
package main
