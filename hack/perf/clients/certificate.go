package clients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// certificateLife is longer than any contest.
const certificateLife = 24 * time.Hour

// identity is a certificate of etcd's that has signed itself: as files in a
// folder like the mount of a Secret, and as what trusts it.
type identity struct {
	dir   string
	trust *tls.Config
}

// writeIdentity makes a certificate for 127.0.0.1 and writes it into dir.
func writeIdentity(dir string) (*identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "perf"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	i := &identity{dir: dir}
	if i.trust, err = trusting(der); err != nil {
		return nil, err
	}
	// To etcd the certificate is the server's; a client's folder with a pair of
	// files would present it, too, so that the pair has names of its own.
	return i, errors.Join(
		writePEM(filepath.Join(dir, plan.CAFile), "CERTIFICATE", der),
		writePEM(i.certificate(), "CERTIFICATE", der), writePEM(i.key(), "PRIVATE KEY", private))
}

func (i *identity) certificate() string { return filepath.Join(i.dir, "server.crt") }
func (i *identity) key() string         { return filepath.Join(i.dir, "server.key") }

func trusting(der []byte) (*tls.Config, error) {
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
