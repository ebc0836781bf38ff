package main

import (
	"fmt"
	"slices"
	"strings"
)

// tool is a program that is built from source, or taken from Debian packages, from an npm package or with Maven, or a script
// of ours.
type tool struct {
	name string
	// debian lists the Debian packages of a program, and file is its path in them; an empty file means all their
	// content. If debian is set, the fields below without are not.
	debian []string
	file   string
	// without, if it is set, means that all packages that those in debian depend on are taken too, except these and
	// what only these need.
	without []string
	// npm is the npm package of a program with its version, and file is its path in it. integrity is the SHA-512 of the
	// package, as npm writes it. If npm is set, the fields below are not.
	npm, integrity string
	// maven is the folder under hack/tools whose pom.xml pins the jars of a Java program. If maven is set, the fields below are
	// not.
	maven string
	// script is the file of a script below hack/tools. If it is set, the fields below are not.
	script string
	// module is the folder under hack/tools whose go.mod pins the version.
	module string
	// pkg is the import path of the main package.
	pkg string
	// tags are the build tags.
	tags []string
	// stamped lists the variables (import path and name) that get a version at link time, because the program cannot
	// read it from its build information. It is the version of the module stampedFrom.
	stamped     []string
	stampedFrom string
	// substitutions change dependencies of the tool.
	substitutions []substitution
	// coldSeconds is how long the build takes on two cores with an empty build cache, after the tools before it in the
	// catalogue. It is shown so that a long compilation does not look like a hang.
	coldSeconds int
}

const kubernetesModule = "k8s.io/kubernetes"

// kubernetesTool describes a binary of the Kubernetes release.
func kubernetesTool(name string, coldSeconds int) tool {
	return tool{
		name:   name,
		module: "kubernetes",
		pkg:    kubernetesModule + "/cmd/" + name,
		stamped: []string{
			"k8s.io/component-base/version.gitVersion",
			"k8s.io/client-go/pkg/version.gitVersion",
		},
		stampedFrom: kubernetesModule,
		coldSeconds: coldSeconds,
	}
}

// oldestAPIServer describes the API server of the oldest supported Kubernetes.
func oldestAPIServer() tool {
	t := kubernetesTool("kube-apiserver", 200)
	t.name, t.module = "kube-apiserver-1.30", "kubernetes-1.30"
	return t
}

// debianZooKeeper is Debian's ZooKeeper, with its Java and the libraries of its AdminServer.
func debianZooKeeper() tool {
	return tool{name: "zookeeper-debian", debian: []string{
		"openjdk-17-jre-headless", "libzookeeper-java", "libslf4j-java", "liblog4j1.2-java", "libnetty-java", "libjetty9-java",
		"libservlet-api-java", "libjackson2-core-java", "libjackson2-databind-java", "libjackson2-annotations-java",
		"libdropwizard-metrics-java", "libsnappy-java", "libcommons-cli-java",
	}}
}

// prometheus describes a Prometheus that can discover pods, and nothing else of a cloud: the SDKs of the other ones
// would triple the build.
func prometheus() tool {
	return tool{
		name: "prometheus", module: "prometheus", pkg: "github.com/prometheus/prometheus/cmd/prometheus", coldSeconds: 140,
		tags: []string{"remove_all_sd", "enable_kubernetes_sd"},
	}
}

// debianChromium is Debian's Chromium with its libraries and two families of fonts. The host has the C library. Chromium
// opens links and files for desktops with the other packages left out.
func debianChromium() tool {
	return tool{
		name: "chromium", debian: []string{"chromium", "fonts-liberation", "fonts-dejavu-core"},
		without: []string{"libc6", "x11-utils", "xdg-desktop-portal-backend", "xdg-utils"},
	}
}

// axeCore is a script that finds what people with disabilities cannot read or reach on a page.
func axeCore() tool {
	return tool{
		name: "axe-core", npm: "axe-core@4.14.1", file: "axe.min.js",
		integrity: "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
	}
}

// slowEtcd describes an etcd for tests of reports about a slow etcd. The environment sets how long flushes and applying
// a request take, independent of the disk. It observes round trips to its peers more often, so that tests do not last
// for minutes.
func slowEtcd() tool {
	return tool{
		name: "etcd-slow", module: "etcd", pkg: "go.etcd.io/etcd/server/v3", coldSeconds: 30,
		substitutions: []substitution{
			{module: "go.etcd.io/etcd/client/pkg/v3", file: "fileutil/sync_linux.go", source: "_slow/log.go"},
			{module: "go.etcd.io/bbolt", file: "bolt_linux.go", source: "_slow/database.go"},
			{module: "go.etcd.io/etcd/server/v3", file: "etcdserver/api/rafthttp/probes.go", source: "_slow/probes.go"},
			{
				module: "go.etcd.io/etcd/server/v3", file: "etcdserver/apply/slow.go", source: "_slow/apply.go",
				// After the start of the time that etcd measures as applying, and before it takes any lock.
				call: call{file: "etcdserver/apply/uber_applier.go", behind: "}(time.Now())", line: "takeTime()"},
			},
		},
	}
}

// catalogue returns every tool. The order lets a cold build reuse as much as possible.
func catalogue() []tool {
	return []tool{
		kubernetesTool("kube-apiserver", 200),
		kubernetesTool("kubectl", 30),
		{name: "etcd", module: "etcd", pkg: "go.etcd.io/etcd/server/v3", coldSeconds: 35},
		slowEtcd(),
		{name: "etcd-3.6", module: "etcd-3.6", pkg: "go.etcd.io/etcd/server/v3", coldSeconds: 35},
		debianZooKeeper(),
		{name: "zookeeper-3.9", maven: "zookeeper"},
		{name: "java-base", debian: []string{"libc6", "libgcc-s1", "libstdc++6", "zlib1g", "dash"}},
		{name: "zkServer.sh", script: "zookeeper/zkServer.sh"},
		debianChromium(),
		axeCore(),
		{name: "kine", module: "kine", pkg: "github.com/k3s-io/kine", coldSeconds: 150},
		{name: "consul", module: "consul", pkg: "github.com/hashicorp/consul", coldSeconds: 170},
		{name: "etcd-debian", debian: []string{"etcd-server"}, file: "usr/bin/etcd"},
		{name: "promtool", debian: []string{"prometheus"}, file: "usr/bin/promtool"},
		prometheus(),
		{name: "etcdctl", module: "etcd", pkg: "go.etcd.io/etcd/etcdctl/v3", coldSeconds: 10},
		{name: "benchmark", module: "benchmark", pkg: "go.etcd.io/etcd/v3/tools/benchmark", coldSeconds: 30},
		{name: "benchmark-3.7", module: "benchmark-3.7", pkg: "go.etcd.io/etcd/v3/tools/benchmark", coldSeconds: 30},
		{name: "hey", module: "hey", pkg: "github.com/rakyll/hey", coldSeconds: 15},
		{name: "controller-gen", module: "controller-gen", pkg: "sigs.k8s.io/controller-tools/cmd/controller-gen", coldSeconds: 30},
		kubernetesTool("kube-controller-manager", 50),
		kubernetesTool("kube-scheduler", 15),
		kubernetesTool("kubelet", 45),
		kubernetesTool("kube-proxy", 10),
		oldestAPIServer(),
		{name: "coredns", module: "coredns", pkg: ".", coldSeconds: 70},
		{name: "helm", module: "helm", pkg: "helm.sh/helm/v4/cmd/helm", coldSeconds: 110},
		{name: "kustomize", module: "kustomize", pkg: "sigs.k8s.io/kustomize/kustomize/v5", coldSeconds: 20},
		{name: "crd-ref-docs", module: "crd-ref-docs", pkg: "github.com/elastic/crd-ref-docs", coldSeconds: 30},
		{name: "staticcheck", module: "staticcheck", pkg: "honnef.co/go/tools/cmd/staticcheck", coldSeconds: 20},
		{name: "govulncheck", module: "govulncheck", pkg: "golang.org/x/vuln/cmd/govulncheck", coldSeconds: 10},
	}
}

// groups returns the names that select several tools.
func groups() map[string][]string {
	return map[string][]string{
		"envtest": {"kube-apiserver", "kubectl", "etcd"},
		"etcds":   {"etcd", "etcd-3.6", "etcd-debian"},
		// What starts members of ZooKeeper and Consul. The Java of Debian's package runs both ZooKeepers.
		"stores": {"zookeeper-debian", "zookeeper-3.9", "zkServer.sh", "consul"},
		"cluster": {
			"kube-apiserver", "kubectl", "etcd", "etcd-3.6", "etcdctl", "kube-controller-manager", "kube-scheduler", "kubelet",
			"kube-proxy", "coredns",
		},
	}
}

// selectTools resolves names of tools and groups, in catalogue order and without duplicates. For an unknown name, the
// error lists the known ones.
func selectTools(names []string) ([]tool, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		members, isGroup := groups()[name]
		if !isGroup {
			members = []string{name}
		}
		for _, member := range members {
			wanted[member] = true
		}
	}
	var selected []tool
	for _, t := range catalogue() {
		if wanted[t.name] {
			selected = append(selected, t)
			delete(wanted, t.name)
		}
	}
	if unknown := sortedKeys(wanted); len(unknown) > 0 {
		return nil, fmt.Errorf("no tool or group is called %s: use one of %s",
			strings.Join(unknown, ", "), strings.Join(knownNames(), ", "))
	}
	return selected, nil
}

// knownNames returns the groups and then the tools.
func knownNames() []string {
	names := sortedKeys(groups())
	for _, t := range catalogue() {
		names = append(names, t.name)
	}
	return names
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
