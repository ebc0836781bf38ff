// Package apiservertest runs a real API server, with its etcd and the project's
// CustomResourceDefinition, for the tests of a package.
package apiservertest

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

// Run starts the server, calls use and ends the server. It returns the exit status of use, or 1 if the server did
// not start; the error is on standard error. root is the path from the package's folder to that of the project.
func Run(root string, use func(*envtest.Environment, *rest.Config) int) int {
	env, err := Environment(root, Tools(root))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Stop also if the server starts but the CRDs cannot be installed.
	defer func() { _ = env.Stop() }()
	config, err := env.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting a kube-apiserver (make test-tools builds it):", err)
		return 1
	}
	return use(env, config)
}

// Tools is the folder of kube-apiserver, etcd and the other tools that make test-tools builds: $KUBEBUILDER_ASSETS, else
// bin/tools of the project.
func Tools(root string) string {
	return cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join(root, "bin", "tools"))
}

// Environment is a server that has not started. It chooses the ports: the kernel could give those that envtest chooses to
// a connection, before the servers listen.
func Environment(root, tools string) (*envtest.Environment, error) {
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		BinaryAssetsDirectory: tools,
		// A busy machine is slow.
		ControlPlaneStartTimeout: 3 * time.Minute,
		CRDInstallOptions:        envtest.CRDInstallOptions{MaxTime: time.Minute},
	}
	addresses, err := freeport.Addresses(2)
	if err != nil {
		return nil, fmt.Errorf("finding ports for a kube-apiserver: %w", err)
	}
	secure := &env.ControlPlane.GetAPIServer().SecureServing
	secure.Address, secure.Port, err = net.SplitHostPort(addresses[0])
	env.ControlPlane.Etcd = &envtest.Etcd{URL: &url.URL{Scheme: "http", Host: addresses[1]}}
	return env, err
}
