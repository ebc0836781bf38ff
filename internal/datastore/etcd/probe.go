package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
)

// probeTimeout bounds one probe of an address.
const probeTimeout = 5 * time.Second

var errNoHTTP2 = errors.New("found no HTTP/2 settings at the start of the connection")

// probeAll checks all addresses. It returns a lost quorum if an answering address reports one. Otherwise it returns the
// first address's error, in the plan's order, and names the other addresses with an error. skipped has the addresses that the
// run skips, with a reason for each of them; learners are not among them.
func (d *Driver) probeAll(ctx context.Context) (skipped map[string]string, err error) {
	if _, err := d.secrets(); err != nil {
		return nil, err
	}
	errs := d.probes(ctx)
	if err := d.whyUnreachable(ctx, errs); err != nil {
		return nil, err
	}
	reached, skipped, err := remote.Reachable(d.plan.Target, errs)
	if err != nil {
		return nil, err
	}
	serving, err := d.serving(ctx)
	if err != nil {
		return nil, err
	}
	voters := slices.DeleteFunc(remote.Pick(d.plan.Target.Endpoints, reached), func(e string) bool { return !slices.Contains(serving, e) })
	if len(voters) == 0 {
		return nil, d.onlyLearners()
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.reached = voters
	return skipped, nil
}

// probes checks all addresses at the same time.
func (d *Driver) probes(ctx context.Context) []error {
	return remote.All(d.plan.Target.Endpoints, func(i int) error {
		endpoint := d.plan.Target.Endpoints[i]
		return repeat(ctx, func(ctx context.Context) error { return d.probe(ctx, endpoint) })
	})
}

// probe checks whether an address serves gRPC, in plain text or TLS as the plan says. It waits for the server's first
// frame, because a TLS 1.3 server checks the client's certificate only then. gRPC reports no cause until a request has
// timed out, and then only as a string.
func (d *Driver) probe(ctx context.Context, endpoint string) error {
	creds, err := d.secrets()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err = dialAndGreet(ctx, endpoint, creds.tls)
	if errors.Is(err, remote.ErrClosed) || errors.Is(err, errNoHTTP2) {
		err = d.mismatch(ctx, endpoint, err)
	}
	return explain(creds.certificates.Refusal(err), endpoint)
}

// mismatch checks whether a server that closed the connection speaks TLS instead of plain text, or the reverse. etcd
// closes such connections without an error.
func (d *Driver) mismatch(ctx context.Context, endpoint string, err error) error {
	if d.plan.Target.TLS != nil {
		if dialAndGreet(ctx, endpoint, nil) == nil {
			return secrets.ErrServesPlain
		}
		return err
	}
	// Only a greeting is sent over this connection, so the server's certificate does not matter.
	closed := dialAndGreet(ctx, endpoint, &tls.Config{InsecureSkipVerify: true})
	if closed == nil || strings.Contains(closed.Error(), "remote error: tls: ") {
		return secrets.ErrServesTLS
	}
	return err
}

// dialAndGreet opens a connection and greets the server.
func dialAndGreet(ctx context.Context, endpoint string, config *tls.Config) error {
	c, err := open(ctx, endpoint, config)
	if err != nil {
		return orClosed(err)
	}
	defer c.Close()
	return orClosed(greet(ctx, c))
}

// orClosed returns remote.ErrClosed for the errors of a server that closes a connection.
func orClosed(err error) error {
	for _, sign := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, sign) {
			return remote.ErrClosed
		}
	}
	return err
}

func open(ctx context.Context, endpoint string, config *tls.Config) (net.Conn, error) {
	if config == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	}
	config = config.Clone()
	config.NextProtos = []string{"h2"}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", endpoint)
}

const (
	// http2Preface is how an HTTP/2 client begins, with an empty SETTINGS frame.
	http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

	frameHeaderBytes  = 9
	frameTypeAt       = 3
	frameTypeSettings = 4
)

// greet begins HTTP/2 and waits for the server's settings.
func greet(ctx context.Context, c net.Conn) error {
	// Reads and writes take no context; a deadline in the past ends them.
	interrupt := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer interrupt()
	if _, err := io.WriteString(c, http2Preface); err != nil {
		return err
	}
	var header [frameHeaderBytes]byte
	_, err := io.ReadFull(c, header[:])
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errNoHTTP2
	case err != nil:
		return err
	case header[frameTypeAt] != frameTypeSettings:
		return errNoHTTP2
	}
	return nil
}
