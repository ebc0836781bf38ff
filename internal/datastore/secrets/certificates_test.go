package secrets

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// contents are the contents of the three files for TLS.
type contents struct{ ca, cert, key string }

// good returns the contents that a member of this authority accepts.
func good(t *testing.T) contents {
	t.Helper()
	dir := etcdtest.NewAuthority(t).SecretDir(t)
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	return contents{read(plan.CAFile), read(plan.CertFile), read(plan.KeyFile)}
}

// der returns the bytes of the first PEM block.
func der(t *testing.T, text string) string {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatal("no PEM")
	}
	return string(block.Bytes)
}

func inPEM(kind, content string) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: []byte(content)}))
}

// expiredAuthority is a CA that was valid until yesterday.
func expiredAuthority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "old"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)}
	data, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return inPEM(pemCertificate, string(data))
}

// What is wrong with a file is said with its name: that of the user's flag, or of the key of a Secret.
func TestWhatIsWrongWithACertificateFile(t *testing.T) {
	g, other := good(t), good(t)
	const legacy = "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n"
	for name, tc := range map[string]struct {
		given contents
		want  []string
	}{
		"a CA in DER":             {contents{ca: der(t, g.ca)}, []string{"{ca}", "certificate in DER", "openssl x509 -inform der"}},
		"a CA in base64":          {contents{ca: base64.StdEncoding.EncodeToString([]byte(g.ca))}, []string{"{ca}", "base64 -d"}},
		"a CA that is a key":      {contents{ca: g.key}, []string{"{ca}", "a private key, wanted a certificate"}},
		"a CA that is a request":  {contents{ca: inPEM("CERTIFICATE REQUEST", "x")}, []string{"{ca}", "request"}},
		"a CA of another kind":    {contents{ca: inPEM("X", "x")}, []string{"{ca}", `block "X"`}},
		"a CA that is a text":     {contents{ca: "hello"}, []string{"{ca}", "no PEM block"}},
		"a CA that is damaged":    {contents{ca: inPEM(pemCertificate, "x")}, []string{"{ca}", "damaged"}},
		"a CA that has expired":   {contents{ca: expiredAuthority(t)}, []string{"{ca}", "CN=old", "expired on"}},
		"an empty CA":             {contents{ca: "\n"}, []string{"{ca}", "nothing"}},
		"exchanged":               {contents{g.ca, g.key, g.cert}, []string{"{cert} holds a key and {key} a certificate", "exchange"}},
		"two certificates":        {contents{g.ca, g.cert, g.cert}, []string{"{key}", "a certificate, wanted a private key"}},
		"two keys":                {contents{g.ca, g.key, g.key}, []string{"{cert}", "a private key, wanted a certificate"}},
		"an encrypted key":        {contents{g.ca, g.cert, inPEM("ENCRYPTED PRIVATE KEY", "x")}, []string{"{key} is encrypted"}},
		"an old encrypted key":    {contents{g.ca, g.cert, legacy}, []string{"{key} is encrypted"}},
		"a key in DER":            {contents{g.ca, g.cert, der(t, g.key)}, []string{"{key}", "a private key in DER"}},
		"a key for SSH":           {contents{g.ca, g.cert, inPEM("OPENSSH PRIVATE KEY", "x")}, []string{"{key}", "a key for SSH, wanted a private key"}},
		"a public key":            {contents{g.ca, g.cert, inPEM("PUBLIC KEY", "x")}, []string{"{key}", "a public key"}},
		"the key of another":      {contents{g.ca, g.cert, other.key}, []string{"{key} is not the key of the certificate in {cert}"}},
		"a bundle":                {contents{g.ca, "\x30\x82\x01\x01\x02\x01\x03", g.key}, []string{"{cert}", "PKCS #12"}},
		"a CA beside an old one":  {contents{ca: expiredAuthority(t) + g.ca}, nil},
		"a certificate with key":  {contents{g.ca, g.cert + g.key, g.key}, nil},
		"a key with parameters":   {contents{g.ca, g.cert, inPEM("EC PARAMETERS", "x") + g.key}, nil},
		"a CA with explanations":  {contents{ca: "Subject: CN=ca\n" + g.ca}, nil},
		"everything as it should": {g, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			given := plan.Given{}
			flags := map[string]string{plan.CAFile: "--cacert", plan.CertFile: "--cert", plan.KeyFile: "--key"}
			for key, content := range map[string]string{plan.CAFile: tc.given.ca, plan.CertFile: tc.given.cert, plan.KeyFile: tc.given.key} {
				if content == "" {
					continue
				}
				path := filepath.Join(dir, key)
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				given[key] = plan.Source{Name: flags[key] + " my.pem", Path: path}
			}
			wantNamed(t, plan.TLS{Given: given}, tc.want, strings.NewReplacer("{ca}", "--cacert my.pem", "{cert}", "--cert my.pem", "{key}", "--key my.pem"))
			const secret = "Secret certs key "
			wantNamed(t, plan.TLS{Dir: dir, SecretName: "certs"}, tc.want, strings.NewReplacer("{ca}", secret+plan.CAFile, "{cert}", secret+plan.CertFile, "{key}", secret+plan.KeyFile))
		})
	}
}

// wantNamed wants an error with these words, or none.
func wantNamed(t *testing.T, from plan.TLS, words []string, names *strings.Replacer) {
	t.Helper()
	err := readError(from)
	if len(words) == 0 {
		if err != nil {
			t.Error(err)
		}
		return
	}
	wantFailure(t, err)
	for _, word := range words {
		if named := names.Replace(word); !strings.Contains(err.Error(), named) {
			t.Errorf("%q lacks %q", err, named)
		}
	}
}

// A file that was given and cannot be read is named as it was given; the message does not repeat its path.
func TestAFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for path, why := range map[string]string{filepath.Join(dir, "missing"): "no such file", dir: "is a directory"} {
		for key, flag := range map[string]string{plan.CAFile: "--cacert", plan.CertFile: "--cert", plan.KeyFile: "--key"} {
			given := plan.Given{}
			for key, content := range map[string]string{plan.CAFile: good(t).ca, plan.CertFile: good(t).cert, plan.KeyFile: good(t).key} {
				given[key] = plan.Source{Name: "unnamed", Content: content}
			}
			given[key] = plan.Source{Name: flag + " mine", Path: path}
			err := readError(plan.TLS{Given: given})
			wantFailure(t, err, flag+" mine", why)
			if err != nil && strings.Contains(err.Error(), dir) {
				t.Errorf("%v repeats the path", err)
			}
		}
	}
}

// The commands that the messages name do what they say.
func TestTheCommandsOfTheMessagesConvert(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("found no openssl")
	}
	g, dir := good(t), t.TempDir()
	for name, content := range map[string]string{"ca.der": der(t, g.ca), "key.der": der(t, g.key), "cert.pem": g.cert, "key.pem": g.key} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output := func(arguments ...string) string {
		cmd := exec.CommandContext(t.Context(), openssl, arguments...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("openssl %v: %v", arguments, err)
		}
		return string(out)
	}
	output("pkcs12", "-export", "-in", "cert.pem", "-inkey", "key.pem", "-passout", "pass:x", "-out", "bundle.p12")
	output("pkey", "-in", "key.pem", "-aes128", "-passout", "pass:x", "-out", "encrypted.pem")
	bundle, err := os.ReadFile(filepath.Join(dir, "bundle.p12"))
	if err != nil {
		t.Fatal(err)
	}
	encrypted, err := os.ReadFile(filepath.Join(dir, "encrypted.pem"))
	if err != nil {
		t.Fatal(err)
	}
	both := output("pkcs12", "-nodes", "-in", "bundle.p12", "-passin", "pass:x")
	for name, tc := range map[string]struct {
		message   string
		command   string
		converted contents
	}{
		"a certificate": {file{data: []byte(der(t, g.ca))}.content(), "openssl x509 -inform der -in FILE", contents{ca: output("x509", "-inform", "der", "-in", "ca.der")}},
		"a key":         {file{data: []byte(der(t, g.key))}.content(), "openssl pkey -inform der -in FILE", contents{g.ca, g.cert, output("pkey", "-inform", "der", "-in", "key.der")}},
		"a bundle":      {file{data: bundle}.content(), "openssl pkcs12 -nodes -in FILE", contents{g.ca, both, both}},
		"encrypted":     {errorOf(clientPair(file{data: []byte(g.cert)}, file{data: encrypted})), "openssl pkey -in FILE", contents{g.ca, g.cert, output("pkey", "-in", "encrypted.pem", "-passin", "pass:x")}},
	} {
		if !strings.Contains(tc.message, tc.command) {
			t.Errorf("%s: %q does not name %q", name, tc.message, tc.command)
		}
		given := plan.Given{plan.CAFile: {Content: tc.converted.ca}}
		if ca := tc.converted.ca; tc.converted.cert != "" {
			given = plan.Given{plan.CAFile: {Content: ca}, plan.CertFile: {Content: tc.converted.cert}, plan.KeyFile: {Content: tc.converted.key}}
		}
		if err := readError(plan.TLS{Given: given}); err != nil {
			t.Errorf("%s: after the conversion: %v", name, err)
		}
	}
}

func readError(from plan.TLS) error {
	_, err := ReadTLS(from)
	return err
}

// wantFailure wants an error of a Secret with these words.
func wantFailure(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil || load.FailureOf(err).Reason != results.FailureSecretInvalid {
		t.Fatalf("wanted %s, found %v", results.FailureSecretInvalid, err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q lacks %q", err, word)
		}
	}
}

// Each store reads the keys that it needs. Of what a user of this machine gave, the error names what is there.
func TestAKeyOfASecret(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, plan.TokenFile), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		from Secret
		want string
	}{
		"mounted":              {Secret{Name: "user", Dir: dir}, ""},
		"given":                {Secret{Given: plan.Given{plan.TokenFile: {Name: "--token-file x", Content: "secret"}}}, ""},
		"another key":          {Secret{Name: "user", Dir: filepath.Dir(dir)}, "Secret user has no key token"},
		"a user":               {Secret{Given: plan.Given{plan.UsernameFile: {Content: "a"}, plan.PasswordFile: {Content: "b"}}}, "only this was given: password, username"},
		"no Secret":            {Secret{Name: "user", Dir: filepath.Join(dir, "missing")}, "Secret user does not exist"},
		"given, but not there": {Secret{Given: plan.Given{plan.TokenFile: {Name: "--token-file x", Path: filepath.Join(dir, "x")}}}, "--token-file x cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			token, err := tc.from.Text(plan.TokenFile)
			if tc.want != "" {
				wantFailure(t, err, tc.want)
			} else if err != nil || token != "secret" {
				t.Errorf("found %q, %v", token, err)
			}
		})
	}
}

func errorOf[T any](_ T, err error) string { return err.Error() }
