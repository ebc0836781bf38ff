// Command scale measures what the operator costs beside thousands of runs, with up to 1,000 client pods:
//
//	go run ./hack/scale [-size small|full] [-scenes idle,queue] [-out out/scale.json]
//
// kube-apiserver, etcd, kube-controller-manager and the manager are real processes. One part of this program acts as the
// scheduler, the kubelet and the client pods: each pod has an address of its own in 127.0.0.0/8 and serves scrapes of at
// least 40 KB that change each time.
//
// It may import the API, the contracts (plan, results) and Kubernetes clients. What the operator sends to the API
// server is counted from the API server's audit log, and what it uses is read from /proc, so the operator is measured
// without its own help.
package main
