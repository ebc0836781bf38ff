package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRenderRefusesMissingValues(t *testing.T) {
	if content, err := render("kube-proxy.yaml", map[string]string{"NodeName": "n"}); err == nil {
		t.Errorf("rendered without the other values:\n%s", content)
	}
}

func TestCNIConfigurationIsJSONInsideThePodRange(t *testing.T) {
	content, err := render("cni.conflist", map[string]string{"RunDir": "/run/x", "PodRange": podRange})
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Name    string
		Plugins []struct {
			Type   string
			IPMasq bool
			IPAM   struct {
				Ranges [][]struct{ Subnet string }
			}
		}
	}
	if err := json.Unmarshal(content, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Plugins) != 1 || list.Plugins[0].IPMasq || list.Plugins[0].IPAM.Ranges[0][0].Subnet != podRange {
		t.Errorf("plugins = %+v, want one without masquerading in %s", list.Plugins, podRange)
	}
}

func TestKubeconfigOpensWithTheUsersOwnCertificate(t *testing.T) {
	l := layout{checkout: t.TempDir(), ports: ports{apiServer: "12345"}}
	if err := writeCertificates(l); err != nil {
		t.Fatal(err)
	}
	if err := writeKubeconfigs(l); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(l.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := os.ReadFile(l.certificate("admin"))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := render("kubeconfig.yaml", map[string]string{"Server": "", "User": "", "CA": "", "Key": "", "Certificate": string(certificate)})
	if err != nil {
		t.Fatal(err)
	}
	line := "client-certificate-data: " + valueOf(string(encoded), "client-certificate-data")
	if !strings.Contains(string(content), line) || !strings.Contains(string(content), l.apiServerURL()) {
		t.Errorf("kubeconfig lacks the administrator's certificate or %s", l.apiServerURL())
	}
	if info, err := os.Stat(l.kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the kubeconfig = %v, %v, want 0600", info.Mode(), err)
	}
}

func valueOf(text, key string) string {
	_, rest, _ := strings.Cut(text, key+": ")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

func TestUnixSocketsFitTheirLimit(t *testing.T) {
	const limit = 107 // sizeof(sockaddr_un.sun_path) less the final zero
	for _, path := range []string{containerdSocket + ".ttrpc", filepath.Join(libDir, "kubelet", "pod-resources", "kubelet.sock")} {
		if len(path) > limit {
			t.Errorf("%s has %d bytes, more than %d", path, len(path), limit)
		}
	}
}

func TestIsDebian(t *testing.T) {
	cases := map[string]struct {
		release string
		want    bool
	}{
		"Debian":     {release: "NAME=\"Debian GNU/Linux\"\nID=debian\n", want: true},
		"descendant": {release: "ID=other\nID_LIKE=\"other debian\"\n", want: true},
		"another":    {release: "NAME=\"not debian\"\nID=fedora\nID_LIKE=\"rhel\"\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isDebian(tc.release); got != tc.want {
				t.Errorf("isDebian = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestDigestSeesNameAndContent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	digests := map[string]bool{}
	for _, content := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, tag := range []string{"a", "b"} {
			digest, err := digestOf(tag, []string{file})
			if err != nil {
				t.Fatal(err)
			}
			digests[digest] = true
		}
	}
	if len(digests) != 4 {
		t.Errorf("%d different digests, want 4", len(digests))
	}
}

// The kubelet and kube-apiserver connect to each other by these addresses.
func TestCertificatesCoverTheServersAddresses(t *testing.T) {
	for holder, address := range map[string]string{"apiserver": nodeAddress, "kubelet": nodeAddress, "etcd": "127.0.0.1"} {
		if hosts := holders()[holder].Hosts; !slices.Contains(hosts, address) {
			t.Errorf("%s: wanted %s among its hosts, found %q", holder, address, hosts)
		}
	}
	for _, client := range []string{"admin", "controller-manager", "scheduler", "proxy", "node", "apiserver-client"} {
		if h, found := holders()[client]; !found || len(h.Hosts) > 0 {
			t.Errorf("%s: wanted a certificate of a client, found %+v", client, h)
		}
	}
}
