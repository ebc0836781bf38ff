package command

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/access"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// The fields of a manifest that flags set.
const (
	endpointsField  = "spec.target.endpoints"
	ephemeralField  = "spec.target.ephemeral"
	tlsField        = "spec.target.tls"
	serverNameField = "spec.target.tls.serverName"
	authField       = "spec.target.auth"
)

// accessHelp is a part of the help of each command that has the flags of etcdctl.
const accessHelp = `--cacert, --cert, --key, --user, --password, --discovery-srv, --discovery-srv-name and
--insecure-discovery are those of etcdctl. So are the variables ETCDCTL_ENDPOINTS,
ETCDCTL_CACERT and so on: a flag takes precedence over its variable. If another variable
of etcdctl is set, the command says that it has no effect.`

// completeAccess checks the flags for the access to a target, after the variables of etcdctl have filled those that are
// not given. With --members, the variables are ignored.
func (t *tool) completeAccess(f *runFlags) error {
	own := f.options.Members > 0
	switch {
	case !f.local:
		return f.access.Refused()
	case !own:
		f.access.FromEnvironment()
		t.tell(access.Ignored()...)
	}
	return f.access.Check(own)
}

// reach completes the access to the target of a command that needs no manifest.
func (t *tool) reach(f *runFlags) error {
	if err := t.completeAccess(f); err != nil {
		return err
	}
	return t.locate(f, true)
}

// locate looks up the addresses of a run on this machine. With variables, those of etcdctl are used if no flag gives any.
func (t *tool) locate(f *runFlags, variables bool) error {
	if !f.local || f.options.Members > 0 {
		return nil
	}
	notices, err := f.access.Locate(variables)
	t.tell(notices...)
	return err
}

// tell writes sentences for the user.
func (t *tool) tell(notices ...string) {
	for _, notice := range notices {
		fmt.Fprintln(t.Err, notice)
	}
}

// hasAddresses reports whether a manifest says by itself where the load goes, as far as this machine can tell.
func hasAddresses(m *manifest.Manifest) bool {
	store, given := m.Text("spec.target.datastore")
	return m.IsSuite() || m.Has(endpointsField) || m.Has(ephemeralField) || given && store != "Etcd"
}

// setTarget writes the target of the flags into the manifest before admission. So the same rules apply to both, and the
// printed run shows the real target.
func (f *runFlags) setTarget(m *manifest.Manifest) error {
	if f.options.Members != 0 {
		return nil
	}
	if len(f.access.Endpoints) > 0 {
		m.Drop("spec.target.service")
		m.Drop("spec.target.pods")
		m.Drop(ephemeralField)
		m.Set(f.access.EndpointsBy(), endpointsField, list(f.access.Endpoints))
	}
	if m.Has(ephemeralField) {
		return f.access.CheckOwn()
	}
	if err := f.checkEndpoints(m); err != nil {
		return err
	}
	store, _ := m.Text("spec.target.datastore")
	if err := f.access.CheckStore(spec.Datastore(store)); err != nil {
		return err
	}
	f.options.TLS, f.options.User = f.access.TLS(), f.access.User()
	if by := f.access.TLSBy(); by != "" && !m.Has(tlsField) {
		m.Set(by, tlsField, map[string]any{"secretName": "tls"})
	}
	if f.access.ServerName != "" && m.Has(tlsField) {
		m.Set(f.access.ServerNameBy(), serverNameField, f.access.ServerName)
	}
	if by := f.access.UserBy(); by != "" && !m.Has(authField) {
		m.Set(by, authField, map[string]any{"secretName": "user"})
	}
	return nil
}

// checkEndpoints refuses addresses that cannot be used, and those whose scheme contradicts the flags for TLS or
// spec.target.tls. Admission refuses them, too, without saying what to write instead.
func (f *runFlags) checkEndpoints(m *manifest.Manifest) error {
	addresses, _, _ := unstructured.NestedStringSlice(m.Object.Object, strings.Split(endpointsField, ".")...)
	asksForTLS := f.access.TLSBy()
	if asksForTLS == "" && m.Has(tlsField) {
		asksForTLS = tlsField
	}
	// Without a flag, admission says which field of the manifest to change.
	flags := len(f.access.Endpoints) > 0 || f.access.TLSBy() != ""
	for i, e := range addresses {
		problem := access.Problem(e)
		switch {
		case problem != "":
		case strings.HasPrefix(e, "https://") && asksForTLS == "" && f.local && flags:
			problem = e + " needs a CA certificate: add --cacert FILE, or --tls-dir with a folder that has ca.crt"
		case strings.HasPrefix(e, "http://") && asksForTLS != "" && flags:
			problem = fmt.Sprintf("%s means no TLS, but %s asks for TLS: write https://, or drop %[2]s", e, asksForTLS)
		}
		if problem != "" {
			return m.Refuse(fmt.Sprintf("%s[%d]", endpointsField, i), problem)
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
