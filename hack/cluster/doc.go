// Command cluster runs a real one-node Kubernetes on a bare Debian host, as root, from package registries alone: no
// Docker, no container registry. Control plane, kubelet and kube-proxy are built from modules (hack/tools); containerd,
// runc and the CNI plugins come from apt.
//
//	go run ./hack/cluster up                            start it, or verify that it is up
//	go run ./hack/cluster down                          end it and put the host back
//	go run ./hack/cluster status                        what runs; fails when something is missing
//	go run ./hack/cluster load-image ARCHIVE            import an image archive (OCI or docker)
//	go run ./hack/cluster build-image -f FILE -t TAG CONTEXT
//	go run ./hack/cluster verify-clean                  up, down, and compare the host before and after
//
// It may import the standard library, small libraries and internal/certificates, so that it runs before the rest of the
// project builds.
//
// What belongs where: logs, certificates, the kubeconfig and images lie in bin/cluster of the checkout; sockets,
// pids and the journal of changes to the host in /run/etcdbench-cluster, because a unix socket's path is limited to 108
// bytes and both end with a reboot; the kubelet's folder in /var/lib/etcdbench-cluster, for the same limit. All traffic
// stays inside 198.18.0.0/15, which a blackhole route keeps on this host.
//
// Invariant: nothing on the host is changed before the journal says so, and down undoes what the journal says, whatever
// happened in between.
package main
