//go:build prometheus

package dashboards

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
)

const root = "../../.."

// cluster is the API server of this package.
var cluster struct {
	api        client.Client
	kubeconfig []byte
}

func TestMain(m *testing.M) {
	os.Exit(apiservertest.Run(root, func(env *envtest.Environment, config *rest.Config) int {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
			if err := add(scheme); err != nil {
				panic(err)
			}
		}
		// The test polls from several goroutines.
		config.QPS, config.Burst = 200, 400
		var err error
		if cluster.api, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
			panic(err)
		}
		cluster.kubeconfig = env.KubeConfig
		return m.Run()
	}))
}

// program is the path of a program that the Makefile has built.
func program(t *testing.T, path ...string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(append([]string{root, "bin"}, path...)...))
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		t.Fatalf("%v: `make test-prometheus` builds it", err)
	}
	return file
}

// written writes a file of this test.
func written(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
