// Package http1 sends requests over HTTP/1.1, with net/http, and counts them.
//
// It imports load for the phase of a request, and knows no store.
package http1

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Redial bounds the time that a connection of the load needs to be open again, and thrice that for TLS. A dial that hangs would
// hold up the requests that follow.
const Redial = time.Second

// ErrResent fails a request of the load that net/http has sent again: its latency would be that of two.
var ErrResent = errors.New("the connection broke, and net/http sent the request again")

// Link is connections to servers. They are opened when they are needed.
type Link struct {
	transport *http.Transport
	requests  *load.RequestCounter
	blank     http.Request
	scheme    string
	// bounded: a dial ends with its request.
	bounded bool
}

// Open returns a link with at most this many connections to an address, which counts its requests. All of them have the header.
// Without ForceAttemptHTTP2, a link speaks only HTTP/1.1. It uses no proxy, and no compression, which costs both sides processor
// time. each bounds a dial, a handshake and the wait for a response; 0 is for the load, whose requests have their own time-outs.
func Open(config *tls.Config, connections int, each time.Duration, requests *load.RequestCounter, header http.Header) *Link {
	l := &Link{requests: requests, blank: http.Request{Header: header}, scheme: "http", transport: &http.Transport{
		TLSClientConfig: config.Clone(), MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, DisableCompression: true,
		DialContext: (&net.Dialer{Timeout: cmp.Or(each, Redial)}).DialContext, TLSHandshakeTimeout: cmp.Or(each, 3*Redial),
		ResponseHeaderTimeout: each,
	}}
	if config != nil {
		l.scheme = "https"
	}
	return l
}

// DialWith opens connections with a function, each for a request. A dial and its handshake end if the request fails: net/http
// would go on, and let the next request wait for them. It must be called before the first request.
func (l *Link) DialWith(dial func(ctx context.Context, address string) (net.Conn, error)) {
	l.bounded, l.transport.TLSHandshakeTimeout = true, 0
	l.transport.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		d, _ := ctx.Value(dialKey{}).(*dialing)
		conn, err := dial(d.request, address)
		if err != nil {
			return nil, err
		}
		d.conn.Store(&conn)
		if err = d.request.Err(); err != nil {
			d.close()
		}
		return conn, err
	}
}

// dialing is the dial of a request, in its context.
type dialing struct {
	request context.Context
	conn    atomic.Pointer[net.Conn]
}

type dialKey struct{}

func (d *dialing) close() {
	if conn := d.conn.Load(); conn != nil {
		_ = (*conn).Close()
	}
}

// Close closes the connections that carry no request.
func (l *Link) Close() { l.transport.CloseIdleConnections() }

// Request is a request to an address.
type Request struct {
	RPC    spec.RPC
	Method string
	// Path has the query, too, and is escaped.
	Path string
	// Header replaces that of the link, if it is set.
	Header http.Header
	// Body must not change after a request that failed: net/http may still read it.
	Body []byte
	// Most is how many bytes of the body of a response are read; 0 is all. Decode, if it is set, reads those of a success.
	Most   int64
	Decode func(io.Reader) error
}

// Send sends a request once, and returns the status and the body of the response, whatever they are. It follows no redirect.
// net/http sends a request again if the server has just closed the connection. That is counted, and ErrResent for the load.
func (l *Link) Send(ctx context.Context, address string, r Request) (status int, body []byte, err error) {
	phase := load.PhaseOf(ctx)
	var sent atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() {
		l.requests.Add(r.RPC, phase)
		if sent.Add(1) > 1 {
			l.requests.AddResent()
		}
	}})
	if l.bounded {
		d, cancel := &dialing{}, context.CancelFunc(nil)
		d.request, cancel = context.WithCancel(ctx)
		ctx = context.WithValue(ctx, dialKey{}, d)
		defer func() {
			if cancel(); err != nil {
				d.close()
			}
		}()
	}
	response, err := l.transport.RoundTrip(l.ask(ctx, address, r))
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	if r.Decode != nil && response.StatusCode == http.StatusOK {
		err = r.Decode(response.Body)
	} else {
		body, err = read(response, cmp.Or(r.Most, math.MaxInt64))
	}
	if err == nil && sent.Load() > 1 && phase != results.PhaseControl {
		err = ErrResent
	}
	return response.StatusCode, body, err
}

// ask needs no parser for the path: net/http sends an opaque one as it is. With a context, a request is a copy of another one.
func (l *Link) ask(ctx context.Context, address string, r Request) *http.Request {
	ask := l.blank.WithContext(ctx)
	ask.Method, ask.URL = r.Method, &url.URL{Scheme: l.scheme, Host: address, Opaque: r.Path}
	if r.Header != nil {
		ask.Header = r.Header
	}
	if len(r.Body) > 0 {
		ask.ContentLength = int64(len(r.Body))
		ask.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
		ask.Body, _ = ask.GetBody()
	}
	return ask
}

// preallocated bounds what a server can make a client allocate before it has sent as much.
const preallocated = 1 << 20

// read reads at most this many bytes of a body.
func read(response *http.Response, most int64) (body []byte, err error) {
	if n := response.ContentLength; n < 0 || n > min(most, preallocated) {
		return io.ReadAll(io.LimitReader(response.Body, most))
	}
	body = make([]byte, response.ContentLength)
	n, err := io.ReadFull(response.Body, body)
	return body[:n], err
}
