package etcd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// credentials are the content of the target's Secrets, or what a user of this machine gave in their place.
type credentials struct {
	// tls is nil for plain text.
	tls                *tls.Config
	username, password string
	// client is the client certificate, with its name for messages; nil without one.
	client *namedCertificate
}

// CheckCredentials returns what is wrong with the credentials of a target, before anything connects to it.
func CheckCredentials(t plan.Target) error {
	_, err := readCredentials(t)
	return err
}

func readCredentials(t plan.Target) (*credentials, error) {
	c := &credentials{}
	if t.TLS != nil {
		if err := c.readTLS(*t.TLS); err != nil {
			return nil, err
		}
	}
	if t.Auth != nil {
		if err := c.readUser(*t.Auth); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *credentials) readUser(a plan.Auth) error {
	s := secret{name: a.SecretName, dir: a.Dir, given: a.Given}
	username, err := s.required(plan.UsernameFile)
	if err != nil {
		return err
	}
	password, err := s.required(plan.PasswordFile)
	if err != nil {
		return err
	}
	c.username, c.password = strings.TrimRight(string(username.data), "\n"), strings.TrimRight(string(password.data), "\n")
	return nil
}

func (c *credentials) readTLS(t plan.TLS) error {
	s := secret{name: t.SecretName, dir: t.Dir, given: t.Given}
	ca, err := s.required(plan.CAFile)
	if err != nil {
		return err
	}
	c.tls = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if c.tls.RootCAs, err = authorities(ca); err != nil {
		return err
	}
	return c.readClient(s)
}

// readClient reads the client certificate. There is none if both of its files are missing.
func (c *credentials) readClient(s secret) error {
	cert, certErr := s.optional(plan.CertFile)
	key, keyErr := s.optional(plan.KeyFile)
	switch {
	case certErr != nil || keyErr != nil:
		return errors.Join(certErr, keyErr)
	case cert == nil && key == nil:
		return nil
	case cert == nil:
		return invalid("%s has no %s beside it: a client certificate needs both", key.name, s.called(plan.CertFile))
	case key == nil:
		return invalid("%s has no %s beside it: a client certificate needs both", cert.name, s.called(plan.KeyFile))
	}
	pair, err := clientPair(*cert, *key)
	if err != nil {
		return err
	}
	c.tls.Certificates, c.client = []tls.Certificate{pair}, &namedCertificate{name: cert.name, Certificate: pair.Leaf}
	return nil
}

// namedCertificate is a certificate with its name for messages.
type namedCertificate struct {
	*x509.Certificate
	name string
}

// secret is a folder into which a Secret is mounted, or what a user of this machine gave in its place. The folder is
// empty if the Secret does not exist.
type secret struct {
	name, dir string
	given     plan.Given
}

// file is the content of one key of a Secret, with its name for messages.
type file struct {
	name string
	data []byte
}

// called is what messages call a key that is missing.
func (s secret) called(key string) string {
	if s.given != nil {
		return "file " + key
	}
	return "key " + key
}

// source returns where the content of a key is; false if nothing was given for the key.
func (s secret) source(key string) (plan.Source, bool) {
	if s.given == nil {
		return plan.Source{Name: fmt.Sprintf("Secret %s key %s", s.name, key), Path: filepath.Join(s.dir, key)}, true
	}
	source, given := s.given[key]
	return source, given
}

func (s secret) required(key string) (file, error) {
	f, err := s.optional(key)
	switch {
	case err != nil:
		return file{}, err
	case f != nil && len(f.data) > 0:
		return *f, nil
	case f != nil:
		return file{}, invalid("%s is empty", f.name)
	case s.given == nil && s.isEmpty():
		return file{}, invalid("Secret %s does not exist, or is empty; it must have the key %s", s.name, key)
	}
	return file{}, invalid("Secret %s has no key %s", s.name, key)
}

// optional returns nil if the Secret has no such key. A file that was given must exist.
func (s secret) optional(key string) (*file, error) {
	source, given := s.source(key)
	if !given {
		return nil, nil
	}
	if source.Path == "" {
		return &file{source.Name, []byte(source.Content)}, nil
	}
	data, err := os.ReadFile(source.Path)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		// The name has the path.
		err = pathErr.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.given == nil:
		return nil, nil
	case err != nil:
		return nil, invalid("%s cannot be read: %w", source.Name, err)
	}
	return &file{source.Name, data}, nil
}

func (s secret) isEmpty() bool {
	entries, err := os.ReadDir(s.dir)
	return err != nil || len(entries) == 0
}

func invalid(format string, args ...any) error {
	return load.Errorf(results.FailureSecretInvalid, format, args...)
}
