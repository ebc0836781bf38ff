package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
)

// holders returns all certificate holders, by the base name of certificate and key.
func holders() map[string]certificates.Holder {
	return map[string]certificates.Holder{
		"apiserver": {Name: "kube-apiserver", Hosts: []string{
			nodeAddress, firstServiceAddress, "127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc." + clusterDomain,
		}},
		"etcd":               {Name: "etcd", Hosts: []string{"127.0.0.1", "localhost"}},
		"kubelet":            {Name: nodeName, Hosts: []string{nodeAddress, nodeName}},
		"apiserver-client":   {Name: "kube-apiserver", Group: "system:masters"},
		"admin":              {Name: "admin", Group: "system:masters"},
		"controller-manager": {Name: "system:kube-controller-manager"},
		"scheduler":          {Name: "system:kube-scheduler"},
		"proxy":              {Name: "system:kube-proxy"},
		"node":               {Name: "system:node:" + nodeName, Group: "system:nodes"},
	}
}

// writeCertificates creates an authority and all certificates that it signs, and the key pair of service account
// tokens.
func writeCertificates(l layout) error {
	if err := os.MkdirAll(l.path("pki"), 0o700); err != nil {
		return err
	}
	ca, err := certificates.New("etcdbench-cluster")
	if err != nil {
		return err
	}
	caKey, err := ca.Key()
	if err != nil {
		return err
	}
	written := writePair(l, "ca", ca.Certificate(), caKey)
	for name, holder := range holders() {
		certificate, key, err := ca.Issue(holder)
		if err != nil {
			return fmt.Errorf("certificate of %s: %w", name, err)
		}
		written = errors.Join(written, writePair(l, name, certificate, key))
	}
	private, public, err := certificates.NewKeyPair()
	return errors.Join(written, err, os.WriteFile(tokenPublicKey(l), public, 0o600), os.WriteFile(l.key("tokens"), private, 0o600))
}

func tokenPublicKey(l layout) string { return l.path("pki", "tokens.pub") }

func writePair(l layout, name string, certificate, key []byte) error {
	return errors.Join(os.WriteFile(l.certificate(name), certificate, 0o600), os.WriteFile(l.key(name), key, 0o600))
}

// writeKubeconfigs writes one kubeconfig per client of kube-apiserver. The administrator's is at the documented path.
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

// renderKubeconfig embeds the certificates, so that a copy works anywhere on this host.
func renderKubeconfig(l layout, user string) ([]byte, error) {
	values := map[string]string{"Server": l.apiServerURL(), "User": user}
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

func (l layout) apiServerURL() string {
	return "https://" + net.JoinHostPort(nodeAddress, l.ports.apiServer)
}
