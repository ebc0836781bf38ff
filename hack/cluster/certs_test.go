package main

import (
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIssuedCertificates(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ca, err := newAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.certificate)
	for _, id := range identities() {
		t.Run(id.file, func(t *testing.T) {
			certificate := parseIssued(t, ca, now, id)
			client := x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
			if _, err := certificate.Verify(client); err != nil {
				t.Errorf("as a client: %v", err)
			}
			server := x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
			if _, err := certificate.Verify(server); (err == nil) != (len(id.hosts) > 0) {
				t.Errorf("as a server: %v, want success only with hosts %v", err, id.hosts)
			}
			for _, host := range id.hosts {
				if err := certificate.VerifyHostname(host); err != nil {
					t.Errorf("for %s: %v", host, err)
				}
			}
			var groups []string
			if id.group != "" {
				groups = []string{id.group}
			}
			if diff := cmp.Diff(groups, certificate.Subject.Organization); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAForeignAuthorityIsNotTrusted(t *testing.T) {
	now := time.Now()
	ours, err := newAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := newAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(theirs.certificate)
	certificate := parseIssued(t, ours, now, identity{file: "etcd", user: "etcd", hosts: []string{"127.0.0.1"}})
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots}); err == nil {
		t.Error("a certificate of another authority verified")
	}
}

func parseIssued(t *testing.T, ca *authority, now time.Time, id identity) *x509.Certificate {
	t.Helper()
	encoded, _, err := ca.issue(now, id)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(encoded)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}
