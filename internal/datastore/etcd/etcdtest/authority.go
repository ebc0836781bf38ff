package etcdtest

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Authority signs the certificates of one test's members and clients.
type Authority struct {
	*certificates.Authority
	// hosts are the names and addresses that the members' certificates cover.
	hosts []string
}

// NewAuthority returns an authority whose server certificates cover these
// names and, if none is given, 127.0.0.1.
func NewAuthority(t testing.TB, names ...string) *Authority {
	t.Helper()
	if len(names) == 0 {
		names = []string{"127.0.0.1"}
	}
	a, err := certificates.New("test authority")
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{Authority: a, hosts: names}
}

// SecretDir returns a folder like the mount of a Secret with the authority's
// certificate and a client certificate.
func (a *Authority) SecretDir(t testing.TB) string {
	t.Helper()
	return a.write(t, certificates.Holder{Name: "client"})
}

// ExpiredSecretDir is SecretDir with a client certificate that has expired.
func (a *Authority) ExpiredSecretDir(t testing.TB) string {
	t.Helper()
	return a.write(t, certificates.Holder{Name: "client", NotAfter: time.Now().Add(-time.Minute)})
}

// ClientTLS returns the configuration of a client that the members accept.
func (a *Authority) ClientTLS(t testing.TB) *tls.Config {
	t.Helper()
	dir := a.SecretDir(t)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, plan.CertFile), filepath.Join(dir, plan.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: a.Pool(), Certificates: []tls.Certificate{pair}}
	if net.ParseIP(a.hosts[0]) == nil {
		config.ServerName = a.hosts[0]
	}
	return config
}

// ServerFiles writes the files of a member that requires client certificates.
func (a *Authority) ServerFiles(t testing.TB) transport.TLSInfo {
	t.Helper()
	dir := a.write(t, certificates.Holder{Name: "server", Hosts: a.hosts})
	return transport.TLSInfo{
		CertFile:       filepath.Join(dir, plan.CertFile),
		KeyFile:        filepath.Join(dir, plan.KeyFile),
		TrustedCAFile:  filepath.Join(dir, plan.CAFile),
		ClientCertAuth: true,
	}
}

// write issues a certificate into a folder like the mount of a Secret.
func (a *Authority) write(t testing.TB, h certificates.Holder) string {
	t.Helper()
	certificate, key, err := a.Issue(h)
	dir := t.TempDir()
	err = errors.Join(err,
		os.WriteFile(filepath.Join(dir, plan.CAFile), a.Certificate(), 0o600),
		os.WriteFile(filepath.Join(dir, plan.CertFile), certificate, 0o600),
		os.WriteFile(filepath.Join(dir, plan.KeyFile), key, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
