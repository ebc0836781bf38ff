// Package apiservertest runs a real API server, with its etcd and the project's
// CustomResourceDefinition, for the tests of a package.
package apiservertest

import (
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
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(root, "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		BinaryAssetsDirectory: os.Getenv("KUBEBUILDER_ASSETS"),
		// A busy machine is slow.
		ControlPlaneStartTimeout: 3 * time.Minute,
		CRDInstallOptions:        envtest.CRDInstallOptions{MaxTime: time.Minute},
	}
	if env.BinaryAssetsDirectory == "" {
		env.BinaryAssetsDirectory = filepath.Join(root, "bin", "tools")
	}
	if err := listen(env); err != nil {
		fmt.Fprintln(os.Stderr, "finding ports for a kube-apiserver:", err)
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

// listen chooses the ports. The kernel could give those that envtest chooses to a connection, before the servers listen.
func listen(env *envtest.Environment) error {
	addresses, err := freeport.Addresses(2)
	if err != nil {
		return err
	}
	secure := &env.ControlPlane.GetAPIServer().SecureServing
	secure.Address, secure.Port, err = net.SplitHostPort(addresses[0])
	env.ControlPlane.Etcd = &envtest.Etcd{URL: &url.URL{Scheme: "http", Host: addresses[1]}}
	return err
}
