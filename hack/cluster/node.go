package main

import (
	"context"
	"os"
	"path/filepath"
)

// The daemons of the node, and their configuration.

func containerdConfig(l layout) string { return l.path("containerd.toml") }
func kubeletConfig(l layout) string    { return l.path("kubelet.yaml") }
func proxyConfig(l layout) string      { return l.path("kube-proxy.yaml") }
func resolvConf(l layout) string       { return l.path("resolv.conf") }

func containerdDaemon(l layout) daemon {
	return daemon{
		name:  "containerd",
		path:  "/usr/bin/containerd",
		args:  []string{"--config=" + containerdConfig(l)},
		probe: func(ctx context.Context) error { _, err := ctr(ctx, "version"); return err },
	}
}

func kubeletDaemon(l layout) daemon {
	return toolDaemon(l, "kubelet", httpProbe("http://"+loopback(l.ports.kubeletHealth)+"/healthz", ""),
		"--config="+kubeletConfig(l),
		"--kubeconfig="+l.kubeconfigOf("node"),
		"--hostname-override="+nodeName,
		"--node-ip="+nodeAddress,
		"--root-dir="+filepath.Join(libDir, "kubelet"),
		"--cert-dir="+l.path("pki", "kubelet"),
		// Without it, the kubelet measures pods, but not their containers.
		"--containerd="+containerdSocket,
	)
}

func proxyDaemon(l layout) daemon {
	return toolDaemon(l, "kube-proxy", httpProbe("http://"+loopback(l.ports.proxyHealth)+"/healthz", ""), "--config="+proxyConfig(l))
}

// writeNodeConfig writes what containerd, the CNI plugin, the kubelet and kube-proxy read.
func writeNodeConfig(l layout) error {
	if err := os.WriteFile(resolvConf(l), nil, 0o644); err != nil { // nothing resolves names outside the cluster
		return err
	}
	for _, file := range nodeFiles(l) {
		if err := renderTo(file.path, file.template, file.values); err != nil {
			return err
		}
	}
	return nil
}

// nodeFile is a configuration file, made of a template and its values.
type nodeFile struct {
	path, template string
	values         map[string]string
}

func nodeFiles(l layout) []nodeFile {
	return []nodeFile{
		{containerdConfig(l), "containerd.toml", map[string]string{
			"Root": l.path("containerd"), "RunDir": runDir, "Socket": containerdSocket, "PauseImage": pauseImage, "CNIPlugins": cniPlugins,
		}},
		{filepath.Join(runDir, "registries", "_default", "hosts.toml"), "registries.toml", nil},
		{filepath.Join(runDir, "cni", "10-etcdbench.conflist"), "cni.conflist", map[string]string{"RunDir": runDir, "PodRange": podRange}},
		{kubeletConfig(l), "kubelet.yaml", map[string]string{
			"NodeAddress": nodeAddress, "Port": l.ports.kubelet, "HealthPort": l.ports.kubeletHealth, "Certificate": l.certificate("kubelet"),
			"Key": l.key("kubelet"), "CA": l.certificate("ca"), "Socket": containerdSocket, "Cgroup": cgroupName,
			"DNSAddress": dnsAddress, "ClusterDomain": clusterDomain, "ResolvConf": resolvConf(l), "PodLogs": podLogs, "VolumePlugins": volumePlugins,
		}},
		{proxyConfig(l), "kube-proxy.yaml", map[string]string{
			"NodeName": nodeName, "Kubeconfig": l.kubeconfigOf("proxy"), "PodRange": podRange, "HealthPort": l.ports.proxyHealth,
			"MetricsPort": l.ports.proxyMetrics,
		}},
	}
}

// ctr runs containerd's own client against the cluster's containerd, in the namespace that the kubelet uses.
func ctr(ctx context.Context, args ...string) (string, error) {
	return run(ctx, "/usr/bin/ctr", append([]string{"--address=" + containerdSocket, "--namespace=k8s.io"}, args...)...)
}
