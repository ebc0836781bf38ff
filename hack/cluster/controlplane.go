package main

// The daemons of the control plane. All serve on loopback or on the node's address, which other hosts cannot reach.

func etcdDaemon(l layout) daemon {
	client := "https://" + loopback(l.ports.etcdClient)
	peer := "http://" + loopback(l.ports.etcdPeer)
	metrics := "http://" + loopback(l.ports.etcdMetrics)
	return toolDaemon(l, "etcd", httpProbe(metrics+"/readyz", ""),
		"--name=control-plane",
		"--data-dir="+l.path("etcd"),
		// The data is deleted with the cluster. A sync per write would only disturb the disks that benchmarks measure.
		"--unsafe-no-fsync",
		"--listen-client-urls="+client,
		"--advertise-client-urls="+client,
		"--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer,
		"--initial-cluster=control-plane="+peer,
		"--listen-metrics-urls="+metrics,
		"--client-cert-auth",
		"--trusted-ca-file="+l.certificate("ca"),
		"--cert-file="+l.certificate("etcd"),
		"--key-file="+l.key("etcd"),
	)
}

func apiServerDaemon(l layout) daemon {
	return toolDaemon(l, "kube-apiserver", httpProbe(l.apiServerURL()+"/readyz", l.certificate("ca")),
		"--bind-address="+nodeAddress,
		"--advertise-address="+nodeAddress,
		"--secure-port="+l.ports.apiServer,
		"--tls-cert-file="+l.certificate("apiserver"),
		"--tls-private-key-file="+l.key("apiserver"),
		"--client-ca-file="+l.certificate("ca"),
		"--etcd-servers=https://"+loopback(l.ports.etcdClient),
		"--etcd-cafile="+l.certificate("ca"),
		"--etcd-certfile="+l.certificate("apiserver-client"),
		"--etcd-keyfile="+l.key("apiserver-client"),
		"--kubelet-client-certificate="+l.certificate("apiserver-client"),
		"--kubelet-client-key="+l.key("apiserver-client"),
		"--kubelet-certificate-authority="+l.certificate("ca"),
		// The node's name is not in DNS.
		"--kubelet-preferred-address-types=InternalIP",
		"--service-cluster-ip-range="+serviceRange,
		// Below the ports that freeport chooses, which the default range overlaps.
		"--service-node-port-range=8000-9999",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+tokenPublicKey(l),
		"--service-account-signing-key-file="+l.key("tokens"),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--profiling=false",
	)
}

func controllerManagerDaemon(l layout) daemon {
	return toolDaemon(l, "kube-controller-manager", httpProbe("https://"+loopback(l.ports.controllerManager)+"/healthz", ""),
		"--kubeconfig="+l.kubeconfigOf("controller-manager"),
		"--bind-address=127.0.0.1",
		"--secure-port="+l.ports.controllerManager,
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file="+l.key("tokens"),
		"--root-ca-file="+l.certificate("ca"),
		"--cluster-signing-cert-file="+l.certificate("ca"),
		"--cluster-signing-key-file="+l.key("ca"),
		// The default lies in /usr/libexec and is created even if it is not used.
		"--flex-volume-plugin-dir="+volumePlugins,
	)
}

func schedulerDaemon(l layout) daemon {
	return toolDaemon(l, "kube-scheduler", httpProbe("https://"+loopback(l.ports.scheduler)+"/healthz", ""),
		"--kubeconfig="+l.kubeconfigOf("scheduler"),
		"--bind-address=127.0.0.1",
		"--secure-port="+l.ports.scheduler,
		"--leader-elect=false",
	)
}
