package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// credentials are the content of the target's Secrets.
type credentials struct {
	// tls is nil for plain text.
	tls                *tls.Config
	username, password string
}

func readCredentials(t plan.Target) (*credentials, error) {
	c := &credentials{}
	if t.TLS != nil {
		config, err := readTLS(*t.TLS)
		if err != nil {
			return nil, err
		}
		c.tls = config
	}
	if t.Auth != nil {
		if err := c.readUser(*t.Auth); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *credentials) readUser(a plan.Auth) error {
	s := secret{name: a.SecretName, dir: a.Dir}
	username, err := s.required(plan.UsernameFile)
	if err != nil {
		return err
	}
	password, err := s.required(plan.PasswordFile)
	if err != nil {
		return err
	}
	c.username, c.password = strings.TrimRight(string(username), "\n"), strings.TrimRight(string(password), "\n")
	return nil
}

func readTLS(t plan.TLS) (*tls.Config, error) {
	s := secret{name: t.SecretName, dir: t.Dir}
	ca, err := s.required(plan.CAFile)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool(), ServerName: t.ServerName}
	if !config.RootCAs.AppendCertsFromPEM(ca) {
		return nil, s.invalid("key %s holds no certificate in PEM", plan.CAFile)
	}
	certificates, err := s.clientCertificate()
	config.Certificates = certificates
	return config, err
}

// clientCertificate is empty if the Secret has neither of its two files.
func (s secret) clientCertificate() ([]tls.Certificate, error) {
	cert, certErr := s.optional(plan.CertFile)
	key, keyErr := s.optional(plan.KeyFile)
	switch {
	case certErr != nil || keyErr != nil:
		return nil, errors.Join(certErr, keyErr)
	case cert == nil && key == nil:
		return nil, nil
	case cert == nil:
		return nil, s.invalid("has the key %s and no key %s: a client certificate needs both", plan.KeyFile, plan.CertFile)
	case key == nil:
		return nil, s.invalid("has the key %s and no key %s: a client certificate needs both", plan.CertFile, plan.KeyFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, s.invalid("keys %s and %s do not make a certificate: %w", plan.CertFile, plan.KeyFile, err)
	}
	return []tls.Certificate{pair}, nil
}

// secret is a folder into which a Secret is mounted. The folder is empty if the Secret does not exist.
type secret struct{ name, dir string }

func (s secret) required(key string) ([]byte, error) {
	data, err := s.optional(key)
	switch {
	case err != nil:
		return nil, err
	case data == nil && s.empty():
		return nil, s.invalid("does not exist, or is empty; it must have the key %s", key)
	case len(data) == 0:
		return nil, s.invalid("has no key %s", key)
	}
	return data, nil
}

// optional returns nil if the Secret has no such key.
func (s secret) optional(key string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, s.invalid("key %s cannot be read: %w", key, err)
	}
	return data, nil
}

func (s secret) empty() bool {
	entries, err := os.ReadDir(s.dir)
	return err != nil || len(entries) == 0
}

func (s secret) invalid(format string, args ...any) error {
	return load.Errorf(results.FailureSecretInvalid, "Secret %s "+format, append([]any{s.name}, args...)...)
}
