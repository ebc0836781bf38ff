package secrets

import (
	"crypto/tls"
	"crypto/x509"
	"errors"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// TLS is what a client needs for TLS.
type TLS struct {
	Config *tls.Config
	// Client is the client certificate; nil without one.
	Client *Certificate
}

// ReadTLS reads the certificates for a target.
func ReadTLS(t plan.TLS) (*TLS, error) {
	s := Secret{Name: t.SecretName, Dir: t.Dir, Given: t.Given}
	ca, err := s.required(plan.CAFile)
	if err != nil {
		return nil, err
	}
	c := &TLS{Config: &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}}
	if c.Config.RootCAs, err = authorities(ca); err != nil {
		return nil, err
	}
	return c, c.readClient(s)
}

// readClient reads the client certificate. There is none if both of its files are missing.
func (c *TLS) readClient(s Secret) error {
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
	c.Config.Certificates, c.Client = []tls.Certificate{pair}, &Certificate{pair.Leaf, cert.name}
	return nil
}

// Certificate is a certificate with its name for messages.
type Certificate struct {
	*x509.Certificate
	Name string
}
