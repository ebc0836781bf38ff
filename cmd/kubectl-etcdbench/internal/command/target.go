package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// The fields of a manifest that flags set.
const (
	endpointsField = "spec.target.endpoints"
	tlsField       = "spec.target.tls"
	authField      = "spec.target.auth"
)

// setTarget writes what the flags say of the target into the manifest, before
// that is admitted: so the same rules hold for both, and the printed run says
// what was loaded, and how.
func (f *runFlags) setTarget(m *manifest.Manifest) error {
	if f.options.EmbeddedMembers != 0 {
		return nil
	}
	if err := f.checkSchemes(m); err != nil {
		return err
	}
	if len(f.endpoints) > 0 {
		m.Drop("spec.target.service")
		m.Drop("spec.target.pods")
		m.Set("--endpoints", endpointsField, list(f.endpoints))
	}
	setFolder(m, "--tls-dir", tlsField, f.options.TLSDir)
	setFolder(m, "--auth-dir", authField, f.options.AuthDir)
	return nil
}

// setFolder names the folder as the Secret that a cluster would have to have.
// A manifest that names one already keeps it.
func setFolder(m *manifest.Manifest, flag, field, dir string) {
	if dir == "" || m.Has(field) {
		return
	}
	name := filepath.Base(dir)
	if absolute, err := filepath.Abs(dir); err == nil {
		name = filepath.Base(absolute)
	}
	m.Set(flag, field, map[string]any{"secretName": name})
}

// checkSchemes refuses addresses whose scheme contradicts what else is said of
// TLS, where flags have a part in that: of a manifest alone, admission does.
func (f *runFlags) checkSchemes(m *manifest.Manifest) error {
	endpoints, from := f.endpoints, "--endpoints"
	switch {
	case len(endpoints) > 0:
	case f.options.TLSDir == "":
		return nil
	default:
		endpoints, _, _ = unstructured.NestedStringSlice(m.Object.Object, strings.Split(endpointsField, ".")...)
		from = endpointsField
	}
	asksForTLS := ""
	switch {
	case f.options.TLSDir != "":
		asksForTLS = "--tls-dir"
	case m.Has(tlsField):
		asksForTLS = tlsField
	}
	for _, e := range endpoints {
		switch {
		case strings.HasPrefix(e, "https://") && asksForTLS == "":
			return fmt.Errorf("%s: %s needs to know whom to trust: add --tls-dir with a folder that has ca.crt", from, e)
		case strings.HasPrefix(e, "http://") && asksForTLS != "":
			return fmt.Errorf("%s: %s is for plain text, but %s asks for TLS: write https://, or drop %s", from, e, asksForTLS, asksForTLS)
		}
	}
	return nil
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}
