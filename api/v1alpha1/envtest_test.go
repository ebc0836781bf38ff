package v1alpha1_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// api talks to a real API server that has the generated CRD.
var api client.Client

func TestMain(m *testing.M) { os.Exit(runWithAPIServer(m)) }

func runWithAPIServer(m *testing.M) int {
	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		BinaryAssetsDirectory: assets(),
		// A busy machine takes its time.
		ControlPlaneStartTimeout: 3 * time.Minute, CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: time.Minute},
	}
	// Also where it starts, and what it is to hold is refused.
	defer env.Stop()
	config, err := env.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting a kube-apiserver (make test builds the binaries and sets KUBEBUILDER_ASSETS):", err)
		return 1
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	if api, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		panic(err)
	}
	return m.Run()
}

func assets() string {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "bin", "tools")
}

// wantTaken creates an object from edits of the good one.
func wantTaken(t *testing.T, edits ...edit) {
	t.Helper()
	if err := create(t, object(t, edits...)); err != nil {
		t.Errorf("wanted the object to be accepted, found: %v", err)
	}
}

// unnamed is a rule's refusal of the whole spec, alone or among others.
var unnamed = regexp.MustCompile(`[ \[]spec: Invalid value`)

// wantRefused wants a part of the message that tells what to write instead.
func wantRefused(t *testing.T, want string, edits ...edit) {
	t.Helper()
	err := create(t, object(t, edits...))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("wanted a rejection that says %q, found: %v", want, err)
		return
	}
	if unnamed.MatchString(err.Error()) {
		t.Errorf("wanted the field to be named at which to look, found: %v", err)
	}
}
