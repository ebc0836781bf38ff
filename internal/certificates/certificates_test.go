package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIssuedCertificates(t *testing.T) {
	ca := newAuthority(t)
	for name, holder := range map[string]Holder{
		"client":          {Name: "benchmark"},
		"member of group": {Name: "admin", Group: "system:masters"},
		"server":          {Name: "etcd", Hosts: []string{"127.0.0.1", "localhost", "etcd.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			certificate := issue(t, ca, holder)
			if err := verify(certificate, ca, x509.ExtKeyUsageClientAuth); err != nil {
				t.Errorf("as a client: %v", err)
			}
			if err := verify(certificate, ca, x509.ExtKeyUsageServerAuth); (err == nil) != (len(holder.Hosts) > 0) {
				t.Errorf("as a server: %v, want success only with hosts %v", err, holder.Hosts)
			}
			for _, host := range holder.Hosts {
				if err := certificate.VerifyHostname(host); err != nil {
					t.Errorf("for %s: %v", host, err)
				}
			}
			var groups []string
			if holder.Group != "" {
				groups = []string{holder.Group}
			}
			if diff := cmp.Diff(groups, certificate.Subject.Organization); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			if certificate.Subject.CommonName != holder.Name {
				t.Errorf("wanted the name %q, got %q", holder.Name, certificate.Subject.CommonName)
			}
		})
	}
}

func TestAnExpiredCertificateDoesNotVerify(t *testing.T) {
	ca := newAuthority(t)
	expired := issue(t, ca, Holder{Name: "benchmark", NotAfter: time.Now().Add(-time.Minute)})
	if err := verify(expired, ca, x509.ExtKeyUsageClientAuth); err == nil {
		t.Error("a certificate that has expired verified")
	}
}

func TestAForeignAuthorityIsNotTrusted(t *testing.T) {
	certificate := issue(t, newAuthority(t), Holder{Name: "etcd"})
	if err := verify(certificate, newAuthority(t), x509.ExtKeyUsageClientAuth); err == nil {
		t.Error("a certificate of another authority verified")
	}
}

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	a, err := New("authority")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// issue returns a certificate whose key belongs to it.
func issue(t *testing.T, a *Authority, h Holder) *x509.Certificate {
	t.Helper()
	certificate, key, err := a.Issue(h)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func verify(certificate *x509.Certificate, a *Authority, usage x509.ExtKeyUsage) error {
	_, err := certificate.Verify(x509.VerifyOptions{Roots: a.Pool(), KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}
