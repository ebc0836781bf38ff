package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// validity is longer than any test cluster lives; up makes new certificates each time.
const validity = 365 * 24 * time.Hour

// identity is what one certificate says about its holder.
type identity struct {
	// file is the base name of certificate and key.
	file string
	// user and group are how kube-apiserver sees a client.
	user, group string
	// hosts are the names and addresses of a server; none for a client.
	hosts []string
}

// identities returns everybody who needs a certificate.
func identities() []identity {
	return []identity{
		{file: "apiserver", user: "kube-apiserver", hosts: []string{
			nodeAddress, firstServiceAddress, "127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc." + clusterDomain,
		}},
		{file: "etcd", user: "etcd", hosts: []string{"127.0.0.1", "localhost"}},
		{file: "kubelet", user: nodeName, hosts: []string{nodeAddress, nodeName}},
		{file: "apiserver-client", user: "kube-apiserver", group: "system:masters"},
		{file: "admin", user: "admin", group: "system:masters"},
		{file: "controller-manager", user: "system:kube-controller-manager"},
		{file: "scheduler", user: "system:kube-scheduler"},
		{file: "proxy", user: "system:kube-proxy"},
		{file: "node", user: "system:node:" + nodeName, group: "system:nodes"},
	}
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// newAuthority makes a self-signed authority that is valid from an hour before now, for clocks that differ a little.
func newAuthority(now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := newTemplate(now, "etcdbench-cluster", "")
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate: certificate, key: key}, err
}

// issue returns certificate and key of id in PEM. A server's certificate serves as a client's too: etcd and
// kube-apiserver call themselves.
func (a *authority) issue(now time.Time, id identity) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := newTemplate(now, id.user, id.group)
	if err != nil {
		return nil, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	for _, host := range id.hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	if len(id.hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = encodeKey(private)
	return encodeCertificate(der), key, err
}

func newTemplate(now time.Time, user, group string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: user},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(validity),
	}
	if group != "" {
		template.Subject.Organization = []string{group}
	}
	return template, nil
}

// writeCertificates makes a new authority and everything that it signs, and the key pair of service account tokens.
func writeCertificates(l layout, now time.Time) error {
	if err := os.MkdirAll(l.path("pki"), 0o700); err != nil {
		return err
	}
	ca, err := newAuthority(now)
	if err != nil {
		return err
	}
	caKey, err := encodeKey(ca.key)
	if err != nil {
		return err
	}
	if err := writePair(l, "ca", encodeCertificate(ca.certificate.Raw), caKey); err != nil {
		return err
	}
	for _, id := range identities() {
		certificate, key, err := ca.issue(now, id)
		if err != nil {
			return fmt.Errorf("certificate of %s: %w", id.file, err)
		}
		if err := writePair(l, id.file, certificate, key); err != nil {
			return err
		}
	}
	return writeTokenKey(l)
}

// writeTokenKey makes the key that signs service account tokens.
func writeTokenKey(l layout) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return err
	}
	key, err := encodeKey(private)
	if err != nil {
		return err
	}
	if err := os.WriteFile(tokenPublicKey(l), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(l.key("tokens"), key, 0o600)
}

func tokenPublicKey(l layout) string { return l.path("pki", "tokens.pub") }

func writePair(l layout, name string, certificate, key []byte) error {
	if err := os.WriteFile(l.certificate(name), certificate, 0o600); err != nil {
		return err
	}
	return os.WriteFile(l.key(name), key, 0o600)
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key.(*ecdsa.PrivateKey))
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}

// writeKubeconfigs writes one kubeconfig per client of kube-apiserver; the administrator's goes where users look for it.
func writeKubeconfigs(l layout) error {
	for _, user := range []string{"admin", "controller-manager", "scheduler", "proxy", "node"} {
		content, err := renderKubeconfig(l, user)
		if err != nil {
			return err
		}
		file := l.kubeconfigOf(user)
		if user == "admin" {
			file = l.kubeconfig()
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// renderKubeconfig embeds the certificates, so that the file works wherever it is copied on this host.
func renderKubeconfig(l layout, user string) ([]byte, error) {
	values := map[string]string{"Server": apiServerURL(), "User": user}
	for name, file := range map[string]string{
		"CA": l.certificate("ca"), "Certificate": l.certificate(user), "Key": l.key(user),
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("kubeconfig of %s: %w", filepath.Base(user), err)
		}
		values[name] = string(content)
	}
	return render("kubeconfig.yaml", values)
}

func apiServerURL() string { return "https://" + net.JoinHostPort(nodeAddress, apiServerPort) }
