package v1alpha1_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
)

// api talks to a real API server that has the generated CRD.
var api client.Client

func TestMain(m *testing.M) { os.Exit(runWithAPIServer(m)) }

func runWithAPIServer(m *testing.M) int {
	return apiservertest.Run(filepath.Join("..", ".."), func(_ *envtest.Environment, config *rest.Config) int {
		scheme := runtime.NewScheme()
		if err := v1alpha1.AddToScheme(scheme); err != nil {
			panic(err)
		}
		var err error
		if api, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
			panic(err)
		}
		return m.Run()
	})
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
