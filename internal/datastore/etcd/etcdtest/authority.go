package etcdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Authority signs the certificates of one test's members and clients.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// names and addresses are what the members' certificates cover.
	names     []string
	addresses []net.IP
}

// NewAuthority returns an authority whose server certificates cover these
// names and, if none is given, 127.0.0.1.
func NewAuthority(t testing.TB, names ...string) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t), names: names}
	if len(names) == 0 {
		a.addresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	template := template("test authority")
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der := sign(t, template, template, &a.key.PublicKey, a.key)
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.certificate = certificate
	return a
}

// SecretDir returns a folder like the mount of a Secret with the authority's
// certificate and a client certificate.
func (a *Authority) SecretDir(t testing.TB) string {
	t.Helper()
	return a.write(t, "client", func(c *x509.Certificate) {})
}

// ExpiredSecretDir is SecretDir with a client certificate that has expired.
func (a *Authority) ExpiredSecretDir(t testing.TB) string {
	t.Helper()
	return a.write(t, "client", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
}

// ClientTLS returns the configuration of a client that the members let in.
func (a *Authority) ClientTLS(t testing.TB) *tls.Config {
	t.Helper()
	dir := a.SecretDir(t)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, plan.CertFile), filepath.Join(dir, plan.KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
	if len(a.names) > 0 {
		config.ServerName = a.names[0]
	}
	return config
}

// ServerFiles writes the files of a member that wants client certificates.
func (a *Authority) ServerFiles(t testing.TB) transport.TLSInfo {
	t.Helper()
	dir := a.write(t, "server", func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = a.names, a.addresses })
	return transport.TLSInfo{
		CertFile:       filepath.Join(dir, plan.CertFile),
		KeyFile:        filepath.Join(dir, plan.KeyFile),
		TrustedCAFile:  filepath.Join(dir, plan.CAFile),
		ClientCertAuth: true,
	}
}

func (a *Authority) write(t testing.TB, name string, change func(*x509.Certificate)) string {
	t.Helper()
	key := newKey(t)
	leaf := template(name)
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	change(leaf)
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writePEM(t, filepath.Join(dir, plan.CAFile), "CERTIFICATE", a.certificate.Raw)
	writePEM(t, filepath.Join(dir, plan.CertFile), "CERTIFICATE", sign(t, leaf, a.certificate, &key.PublicKey, a.key))
	writePEM(t, filepath.Join(dir, plan.KeyFile), "EC PRIVATE KEY", private)
	return dir
}

func template(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, leaf, parent *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, leaf, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func writePEM(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
