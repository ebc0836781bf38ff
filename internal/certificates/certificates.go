package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// validity is how long an authority and its certificates are valid: longer than any test or development cluster
// exists.
const validity = 365 * 24 * time.Hour

// Authority signs certificates.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Holder describes the holder of a certificate.
type Holder struct {
	// Name is the common name. It is also the user's name for etcd and for kube-apiserver.
	Name string
	// Group is the organization, which is a group for kube-apiserver. It may be empty.
	Group string
	// Hosts are the DNS names and IP addresses of a server. Without hosts the certificate is only for clients. A
	// server's certificate is also for clients, because etcd and kube-apiserver connect to themselves.
	Hosts []string
	// NotAfter is when the certificate expires. Zero means a year from now.
	NotAfter time.Time
	// Flaw makes a certificate that lacks something; nil for one that works.
	Flaw func(*x509.Certificate)
}

// New returns a self-signed authority.
func New(name string) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := newTemplate(Holder{Name: name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Authority{certificate: certificate, key: key}, err
}

// Certificate returns the authority's own certificate in PEM.
func (a *Authority) Certificate() []byte { return encode("CERTIFICATE", a.certificate.Raw) }

// Key returns the authority's key in PEM, for programs that sign for the authority.
func (a *Authority) Key() ([]byte, error) { return encodeKey(a.key) }

// Pool returns a pool that trusts the certificates of the authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Issue returns a certificate and its key in PEM.
func (a *Authority) Issue(h Holder) (certificate, key []byte, err error) {
	private, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	template := newTemplate(h)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(h.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	if h.Flaw != nil {
		h.Flaw(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = encodeKey(private)
	return encode("CERTIFICATE", der), key, err
}

// NewKeyPair returns a private key and its public key in PEM.
func NewKeyPair() (private, public []byte, err error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	if private, err = encodeKey(key); err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	return private, encode("PUBLIC KEY", der), err
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// newTemplate is valid from an hour before now, because clocks differ a little.
func newTemplate(h Holder) *x509.Certificate {
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: h.Name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     h.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	if h.Group != "" {
		template.Subject.Organization = []string{h.Group}
	}
	if h.NotAfter.IsZero() {
		template.NotAfter = now.Add(validity)
	}
	for _, host := range h.Hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return encode("EC PRIVATE KEY", der), err
}
