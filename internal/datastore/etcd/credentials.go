package etcd

import (
	"crypto/tls"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// credentials are the content of the target's Secrets, or what a user of this machine gave in their place.
type credentials struct {
	// tls is nil for plain text, and certificates, too.
	tls                *tls.Config
	certificates       *secrets.TLS
	username, password string
}

// CheckCredentials returns what is wrong with the credentials of a target, before anything connects to it.
func CheckCredentials(t plan.Target) error {
	_, err := readCredentials(t)
	return err
}

func readCredentials(t plan.Target) (c *credentials, err error) {
	c = &credentials{}
	if t.TLS != nil {
		if c.certificates, err = secrets.ReadTLS(*t.TLS); err != nil {
			return nil, err
		}
		c.tls = c.certificates.Config
	}
	if t.Auth == nil {
		return c, nil
	}
	user := secrets.Secret{Name: t.Auth.SecretName, Dir: t.Auth.Dir, Given: t.Auth.Given}
	if c.username, err = user.Text(plan.UsernameFile); err == nil {
		c.password, err = user.Text(plan.PasswordFile)
	}
	return c, err
}
