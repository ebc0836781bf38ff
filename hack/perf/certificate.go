package main

import (
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"

	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// identity is etcd's certificate: as files in a folder that looks like the mount of a Secret, and as a pool that trusts
// it.
type identity struct {
	dir   string
	trust *tls.Config
}

// writeIdentity makes a certificate for 127.0.0.1 and writes it into dir.
func writeIdentity(dir string) (*identity, error) {
	authority, err := certificates.New("perf")
	if err != nil {
		return nil, err
	}
	certificate, key, err := authority.Issue(certificates.Holder{Name: "etcd", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		return nil, err
	}
	i := &identity{dir: dir, trust: &tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS12}}
	// A client presents a key pair if its folder has one under the names of a Secret. The server's pair has other
	// names.
	return i, errors.Join(
		os.WriteFile(filepath.Join(dir, plan.CAFile), authority.Certificate(), 0o600),
		os.WriteFile(i.certificate(), certificate, 0o600), os.WriteFile(i.key(), key, 0o600))
}

func (i *identity) certificate() string { return filepath.Join(i.dir, "server.crt") }
func (i *identity) key() string         { return filepath.Join(i.dir, "server.key") }
