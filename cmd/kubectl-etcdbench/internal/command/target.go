package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// The fields of a manifest that flags set.
const (
	endpointsField = "spec.target.endpoints"
	tlsField       = "spec.target.tls"
	authField      = "spec.target.auth"
)

// setTarget writes the target of the flags into the manifest before admission. So the same rules apply to both, and the
// printed run shows the real target.
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
	setFolder(m, f.tlsFlag(), tlsField, f.options.TLSDir)
	setFolder(m, "--auth-dir", authField, f.options.AuthDir)
	return errors.Join(
		checkFolder(f.tlsFlag(), f.options.TLSDir, plan.CAFile),
		checkFolder("--auth-dir", f.options.AuthDir, plan.UsernameFile, plan.PasswordFile),
	)
}

// checkFolder returns an error if a flag has a folder without the files that a run needs, before anything starts.
func checkFolder(flag, folder string, files ...string) error {
	for _, file := range files {
		if folder == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
			return fmt.Errorf("%s: wanted a folder with %s: %w", flag, strings.Join(files, " and "), err)
		}
	}
	return nil
}

// tlsFlag is the flag or the variable that asks for TLS.
func (f *runFlags) tlsFlag() string { return cmp.Or(f.access.tlsFrom, "--tls-dir") }

// setFolder sets the name of the Secret to that of the folder, unless the manifest names a Secret.
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

// checkSchemes refuses addresses whose scheme contradicts --tls-dir or spec.target.tls, if a flag is involved.
// Admission checks a manifest without flags.
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
		asksForTLS = f.tlsFlag()
	case m.Has(tlsField):
		asksForTLS = tlsField
	}
	for _, e := range endpoints {
		switch {
		case strings.HasPrefix(e, "https://") && asksForTLS == "":
			return fmt.Errorf("%s: %s needs a CA certificate: add --cacert FILE, or --tls-dir with a folder that has ca.crt", from, e)
		case strings.HasPrefix(e, "http://") && asksForTLS != "":
			return fmt.Errorf("%s: %s means no TLS, but %s asks for TLS: write https://, or drop %[3]s", from, e, asksForTLS)
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
