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

// api is a client of a real API server with the generated CRD.
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

// wantTaken wants the API server to accept the good object with these edits.
func wantTaken(t *testing.T, edits ...edit) {
	t.Helper()
	if err := create(t, object(t, edits...)); err != nil {
		t.Errorf("wanted the object to be accepted, found: %v", err)
	}
}

// typeName is what API servers before 1.36 print for the value that a rule refuses.
var typeName = regexp.MustCompile(`Invalid value: "(?:object|array|string|integer|boolean)": `)

// refusal returns the text of an error as a server of 1.36 prints it.
func refusal(err error) string { return typeName.ReplaceAllString(err.Error(), "Invalid value: ") }

// unnamed matches a refusal that names only the spec and no field of it.
var unnamed = regexp.MustCompile(`[ \[]spec: Invalid value`)

// wantRefused wants a refusal that contains want and names a field.
func wantRefused(t *testing.T, want string, edits ...edit) {
	t.Helper()
	err := create(t, object(t, edits...))
	if err == nil || !strings.Contains(refusal(err), want) {
		t.Errorf("wanted a rejection that says %q, found: %v", want, err)
		return
	}
	if unnamed.MatchString(refusal(err)) {
		t.Errorf("wanted a message that names the field, found: %v", err)
	}
}
