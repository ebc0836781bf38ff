package remote

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// Redial bounds the time that a connection of the load over net/http needs to be open again, and thrice that for TLS. A dial
// that hangs would hold up the requests that follow.
const Redial = time.Second

// Transport has at most this many connections to an address. Without ForceAttemptHTTP2, it speaks only HTTP/1.1. It uses no
// proxy, and no compression, which costs both sides processor time. each bounds a dial, a handshake and the wait for a response;
// 0 is for the load, whose requests have their own time-outs.
func Transport(config *tls.Config, connections int, each time.Duration) *http.Transport {
	return &http.Transport{
		TLSClientConfig: config.Clone(), MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, DisableCompression: true,
		DialContext: (&net.Dialer{Timeout: cmp.Or(each, Redial)}).DialContext, TLSHandshakeTimeout: cmp.Or(each, 3*Redial),
		ResponseHeaderTimeout: each,
	}
}
