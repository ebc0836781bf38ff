package secrets

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	pemCertificate = "CERTIFICATE"
	pemSSH         = "OPENSSH PRIVATE KEY"
	pemKeySuffix   = "PRIVATE KEY"
)

// authorities are the certificates of a CA. An expired one cannot verify a member.
func authorities(f file) (*x509.CertPool, error) {
	all, err := f.certificates()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if !slices.ContainsFunc(all, func(c *x509.Certificate) bool { return outOfDate(c, now) == "" }) {
		return nil, invalid("%s: the certificate of %q %s; give one that is valid", f.name, all[0].Subject.String(), outOfDate(all[0], now))
	}
	pool := x509.NewCertPool()
	for _, c := range all {
		pool.AddCert(c)
	}
	return pool, nil
}

// outOfDate says when a certificate that is not valid now is valid; empty if it is valid.
func outOfDate(c *x509.Certificate, now time.Time) string {
	switch {
	case now.After(c.NotAfter):
		return "expired on " + c.NotAfter.UTC().Format(time.RFC3339)
	case now.Before(c.NotBefore):
		return "is not valid before " + c.NotBefore.UTC().Format(time.RFC3339) + ", by the clock here"
	}
	return ""
}

// certificates returns the certificates in a file, at least one.
func (f file) certificates() (all []*x509.Certificate, err error) {
	for _, block := range f.blocks() {
		if block.Type != pemCertificate {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, invalid("%s holds a damaged certificate: %w", f.name, err)
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, invalid("%s holds %s, wanted a certificate in PEM", f.name, f.content())
	}
	return all, nil
}

// clientPair returns a client certificate with its key.
func clientPair(cert, key file) (pair tls.Certificate, err error) {
	switch {
	case cert.hasKey() && !key.hasKey() && key.has(pemCertificate):
		return pair, invalid("%s holds a key and %s a certificate: exchange them", cert.name, key.name)
	case key.isEncrypted():
		return pair, invalid("%s is encrypted with a passphrase, and no command asks for one: give a key without (openssl pkey -in FILE writes it)", key.name)
	case !key.hasKey():
		return pair, invalid("%s holds %s, wanted a private key in PEM", key.name, key.content())
	}
	if _, err := cert.certificates(); err != nil {
		return pair, err
	}
	pair, err = tls.X509KeyPair(cert.data, key.data)
	switch {
	case err == nil:
		return pair, nil
	case strings.Contains(err.Error(), "does not match"):
		return pair, invalid("%s is not the key of the certificate in %s: give the key that belongs to it", key.name, cert.name)
	}
	return pair, invalid("%s and %s make no client certificate: %w", cert.name, key.name, err)
}

func (f file) blocks() (all []*pem.Block) {
	for rest := f.data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return all
		}
		all = append(all, block)
	}
}

func (f file) has(kind string) bool {
	return slices.ContainsFunc(f.blocks(), func(b *pem.Block) bool { return b.Type == kind })
}

func (f file) hasKey() bool {
	return slices.ContainsFunc(f.blocks(), func(b *pem.Block) bool { return strings.HasSuffix(b.Type, pemKeySuffix) && b.Type != pemSSH })
}

// isEncrypted reports whether a key needs a passphrase: in the form of PKCS #8, or in the older one of OpenSSL.
func (f file) isEncrypted() bool {
	return slices.ContainsFunc(f.blocks(), func(b *pem.Block) bool {
		return b.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(b.Headers["Proc-Type"], "ENCRYPTED")
	})
}

// pemNames are the names of what can be in a file in place of what was wanted.
var pemNames = map[string]string{
	pemCertificate:        "a certificate",
	"CERTIFICATE REQUEST": "a request for a certificate, which a CA has yet to sign",
	"PUBLIC KEY":          "a public key",
	"X509 CRL":            "a list of revoked certificates",
	pemSSH:                "a key for SSH",
}

// content says what a file holds that does not hold what was wanted.
func (f file) content() string {
	blocks := f.blocks()
	switch {
	case len(bytes.TrimSpace(f.data)) == 0:
		return "nothing"
	case len(blocks) == 0:
		return f.withoutPEM()
	}
	first := blocks[0].Type
	switch name, known := pemNames[first]; {
	case known:
		return name
	case strings.HasSuffix(first, pemKeySuffix):
		return "a private key"
	}
	return fmt.Sprintf("the PEM block %.40q", first)
}

// pkcs12Version is how a PKCS #12 bundle goes on after the header of its outer sequence: with the integer 3.
var pkcs12Version = []byte{0x02, 0x01, 0x03}

// withoutPEM says what a file without PEM blocks holds.
func (f file) withoutPEM() string {
	const convert = ", which is not PEM"
	if decoded, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(f.data), nil))); err == nil && bytes.Contains(decoded, []byte("-----BEGIN")) {
		return "PEM that is encoded in base64 once more, as a Secret's YAML shows it (decode it with base64 -d)"
	}
	if _, err := x509.ParseCertificate(f.data); err == nil {
		return "a certificate in DER" + convert + " (openssl x509 -inform der -in FILE converts it)"
	}
	if isKeyInDER(f.data) {
		return "a private key in DER" + convert + " (openssl pkey -inform der -in FILE converts it)"
	}
	if start := f.data[:min(len(f.data), 8)]; len(start) > 1 && start[0] == 0x30 && bytes.Contains(start, pkcs12Version) {
		return "a PKCS #12 bundle" + convert + " (openssl pkcs12 -nodes -in FILE converts it)"
	}
	return "no PEM block"
}

func isKeyInDER(data []byte) bool {
	_, err8 := x509.ParsePKCS8PrivateKey(data)
	_, err1 := x509.ParsePKCS1PrivateKey(data)
	_, errEC := x509.ParseECPrivateKey(data)
	return err8 == nil || err1 == nil || errEC == nil
}
