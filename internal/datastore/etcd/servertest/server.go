// Package servertest has simple servers and certificates for tests of connections. It imports the standard library only.
package servertest

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Accept runs a server until the test ends. It calls do for each connection, and returns the server's address.
func Accept(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go do(conn)
		}
	}()
	return listener.Addr().String()
}

// Certificate returns the certificate of a server at 127.0.0.1.
var Certificate = sync.OnceValue(func() tls.Certificate {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.StartTLS()
	defer s.Close()
	return s.TLS.Certificates[0]
})

// Trust returns the settings of a client that trusts Certificate.
func Trust(protocols ...string) *tls.Config {
	leaf, err := x509.ParseCertificate(Certificate().Certificate[0])
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12, NextProtos: protocols}
}
