package etcd

import (
	"crypto/tls"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// credentials are those of the target.
type credentials struct {
	// tls is nil for plain text, and certificates, too.
	tls                *tls.Config
	certificates       *secrets.TLS
	username, password string
}

func readCredentials(t plan.Target) (*credentials, error) {
	found, err := secrets.Read(t)
	if err != nil {
		return nil, err
	}
	c := &credentials{certificates: found.TLS, username: found.Auth[plan.UsernameFile], password: found.Auth[plan.PasswordFile]}
	if found.TLS != nil {
		c.tls = found.TLS.Config
	}
	return c, nil
}
