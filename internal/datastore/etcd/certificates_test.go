package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// serveTLS accepts connections with one certificate and returns its address.
func serveTLS(t *testing.T, certificate tls.Certificate) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.(*tls.Conn).HandshakeContext(t.Context())
			}()
		}
	}()
	return l.Addr().String()
}

// The advice about a member's certificate can be followed: no name can match a certificate without names.
func TestWhatIsWrongWithTheCertificateOfAMember(t *testing.T) {
	authority := etcdtest.NewAuthority(t)
	pair := func(h certificates.Holder, flaw func(*x509.Certificate)) tls.Certificate {
		t.Helper()
		h.Flaw = flaw
		cert, key, err := authority.Issue(h)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tls.X509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	forServers := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	early := func(c *x509.Certificate) { forServers(c); c.NotBefore = time.Now().Add(time.Hour) }
	for name, tc := range map[string]struct {
		certificate tls.Certificate
		names       []string
		not         string
	}{
		"only a common name": {pair(certificates.Holder{Name: "127.0.0.1"}, forServers), []string{"without subject alternative names", "issue the certificate again"}, "serverName"},
		"another name":       {pair(certificates.Holder{Name: "x", Hosts: []string{"etcd.example", "192.0.2.1"}}, nil), []string{"etcd.example, 192.0.2.1", "serverName"}, "issue"},
		"expired":            {pair(certificates.Holder{Name: "x", Hosts: []string{net.IPv4(127, 0, 0, 1).String()}, NotAfter: time.Now().Add(-time.Minute)}, nil), []string{"CN=x", "expired on"}, ""},
		"not yet valid":      {pair(certificates.Holder{Name: "x", Hosts: []string{"127.0.0.1"}}, early), []string{"is not valid before", "clock"}, ""},
		"only for clients":   {pair(certificates.Holder{Name: "x"}, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)} }), []string{"server authentication"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, planFor([]string{serveTLS(t, tc.certificate)}, withTLS(authority.SecretDir(t), "")), 0)
			_, _, err := d.Preflight(withTimeout(t))
			wantFailure(t, err, results.FailureTLSFailed, tc.names...)
			if err != nil && tc.not != "" && strings.Contains(err.Error(), tc.not) {
				t.Errorf("%v advises %q, which cannot help", err, tc.not)
			}
		})
	}
}
