package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Addresses. 198.18.0.0/15 is reserved for benchmarks (RFC 2544) and routed nowhere.
const (
	benchmarkRange = "198.18.0.0/15"
	podRange       = "198.18.0.0/16"
	serviceRange   = "198.19.0.0/17"
	// firstServiceAddress is the address that kube-apiserver gives to the Service "kubernetes".
	firstServiceAddress = "198.19.0.1"
	dnsAddress          = "198.19.0.10"
	nodeAddress         = "198.19.255.1"
	clusterDomain       = "cluster.local"
	nodeName            = "etcdbench-node"
)

// Folders outside the checkout, and names on the host that only one cluster can use.
const (
	runDir     = "/run/etcdbench-cluster"
	libDir     = "/var/lib/etcdbench-cluster"
	cgroupName = "etcdbench-cluster"

	podLogs          = libDir + "/pod-logs"
	volumePlugins    = libDir + "/volume-plugins"
	containerdSocket = runDir + "/containerd.sock"
)

// Images that are built for the cluster; it pulls none.
const (
	pauseImage   = "etcdbench.dev/pause:v1"
	coreDNSImage = "etcdbench.dev/coredns:v1.15.0"
	// The names are those of etcd's published images, so that manifests are the same in other clusters.
	etcdImage   = "gcr.io/etcd-development/etcd:v3.7.3"
	etcd36Image = "gcr.io/etcd-development/etcd:v3.6.16"
)

const modulePath = "github.com/etcdbench/etcd-benchmark-operator"

// layout has the paths of one checkout. While it starts a cluster, it also has the ports.
type layout struct {
	checkout string
	ports    ports
}

// findLayout walks up from the working directory to the folder that holds the project's go.mod.
func findLayout() (layout, error) {
	start, err := os.Getwd()
	if err != nil {
		return layout{}, err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.Contains(string(content), "module "+modulePath+"\n") {
			return layout{checkout: dir}, nil
		}
		if dir == filepath.Dir(dir) {
			return layout{}, fmt.Errorf("%s is not inside a checkout of %s: change to one", start, modulePath)
		}
	}
}

// tool returns the path of a binary that hack/tools built.
func (l layout) tool(name string) string { return filepath.Join(l.checkout, "bin", "tools", name) }

// path returns a path below bin/cluster.
func (l layout) path(elements ...string) string {
	return filepath.Join(append([]string{l.checkout, "bin", "cluster"}, elements...)...)
}

func (l layout) kubeconfig() string             { return l.path("kubeconfig") }
func (l layout) logFile(daemon string) string   { return l.path("logs", daemon+".log") }
func (l layout) certificate(name string) string { return l.path("pki", name+".crt") }
func (l layout) key(name string) string         { return l.path("pki", name+".key") }

// kubeconfigOf returns the kubeconfig of a component of the cluster.
func (l layout) kubeconfigOf(user string) string { return l.path("pki", user+".kubeconfig") }
