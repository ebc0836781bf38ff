package consul

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// request is a request to Consul. Its path has the query, too.
type request struct {
	rpc          spec.RPC
	method, path string
	body         []byte
}

const kvPath = "/v1/kv/"

// pathOf is the path of a key, which may have any name.
func pathOf(key string) string { return kvPath + (&url.URL{Path: key}).EscapedPath() }

func get(rpc spec.RPC, path string) request { return request{rpc, http.MethodGet, path, nil} }

func put(rpc spec.RPC, path string, body []byte) request {
	return request{rpc, http.MethodPut, path, body}
}

const (
	// controlConnections is how many connections a pod opens to a server beside the load.
	controlConnections = 4
	// answerTimeout bounds the wait for a response, so that a server that hangs does not prevent an answer of another one.
	answerTimeout = 5 * time.Second
)

// newClient returns a client without compression, which costs both sides processor time.
func (d *Driver) newClient(connections int, timeout time.Duration) (*http.Client, error) {
	creds, err := d.credentials()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, DisableCompression: true, ResponseHeaderTimeout: timeout,
		DialContext:         (&net.Dialer{Timeout: cmp.Or(timeout, remote.Redial)}).DialContext,
		TLSHandshakeTimeout: cmp.Or(timeout, 3*remote.Redial),
	}
	if creds.TLS != nil {
		transport.TLSClientConfig = creds.TLS.Config.Clone()
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.clients = append(d.clients, client)
	return client, nil
}

// send sends a request to an address, and reads at most this many bytes of the response. found is false for a missing key.
func (d *Driver) send(ctx context.Context, client *http.Client, endpoint string, r request, most int64) (body []byte, found bool, err error) {
	creds, err := d.credentials()
	if err != nil {
		return nil, false, err
	}
	scheme := "http://"
	if creds.TLS != nil {
		scheme = "https://"
	}
	// net/http sends a GET again if its connection breaks. That is counted, and a request of the load has failed then.
	var sent atomic.Int32
	phase := load.PhaseOf(ctx)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() {
		sent.Add(1)
		d.requests.Add(r.rpc, phase)
	}})
	ask, err := http.NewRequestWithContext(ctx, r.method, scheme+endpoint+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, false, err
	}
	if token := creds.Auth[plan.TokenFile]; token != "" {
		ask.Header["X-Consul-Token"] = []string{token}
	}
	response, err := client.Do(ask)
	if err != nil {
		return nil, false, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, most))
	if found = response.StatusCode == http.StatusOK; err == nil && !found && response.StatusCode != http.StatusNotFound {
		err = &refusal{response.StatusCode, strings.TrimSpace(string(body))}
	}
	if err == nil && sent.Load() > 1 && phase != results.PhaseControl {
		err = errBroken
	}
	return body, found, err
}

// ask sends a request that is not load until it is answered, or fails with an error that is not temporary: each can be
// repeated safely. Pods begin with different addresses. After a temporary error the next address follows.
func (d *Driver) ask(ctx context.Context, r request, most int64) (body []byte, found bool, err error) {
	client, err := d.control()
	if err != nil {
		return nil, false, err
	}
	all := d.addresses.Loaded()
	err = remote.Repeat(ctx, passes, func(ctx context.Context) (err error) {
		turn := d.turn.Load()
		body, found, err = d.send(ctx, client, all[(int64(d.index)+turn)%int64(len(all))], r, most)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() && ctx.Err() == nil {
			err = errors.Join(errNoAnswer, err)
		}
		if _, refused := errors.AsType[*refusal](err); err != nil && (!refused || passes(err)) {
			// Requests that fail at the same time turn once.
			d.turn.CompareAndSwap(turn, turn+1)
		}
		return err
	})
	return body, found, err
}

// Most bytes of a response. Consul has no pages, and puts all names into one response: often its start is enough.
const everything, itsStart = math.MaxInt64, 64 << 10

// names returns the names of the keys under a folder, in their order. It reads at most this many bytes of the list. flat: a
// name ends with the first slash after the folder.
func (d *Driver) names(ctx context.Context, folder string, flat bool, most int64) (names []string, err error) {
	path := pathOf(folder) + "?keys&consistent"
	if flat {
		path += "&separator=/"
	}
	body, found, err := d.ask(ctx, get(spec.RPCKVGet, path), most)
	if err != nil || !found {
		return nil, err
	}
	list := json.NewDecoder(bytes.NewReader(body))
	if start, wrong := list.Token(); wrong != nil || start != json.Delim('[') {
		return nil, errNotConsul
	}
	for list.More() {
		var name string
		if wrong := list.Decode(&name); wrong != nil && most == everything {
			return nil, errNotConsul
		} else if wrong != nil {
			break
		}
		names = append(names, name)
	}
	return names, nil
}

// refusal is a response with an error.
type refusal struct {
	status int
	reason string
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("HTTP %d: %.200s", r.status, r.reason) }

func (r *refusal) says(what string) bool { return strings.Contains(r.reason, what) }

// denied is what a refused operation of a transaction says; other requests have a status of their own.
const denied = "Permission denied"

const codeUnknown, codeDenied = "Unknown", "PermissionDenied"

var (
	// errNoAnswer: a server did not respond in time. Another one may.
	errNoAnswer  = errors.New("the server does not answer")
	errNoLeader  = errors.New("the servers have no leader")
	errNotConsul = errors.New("the answer is not one of Consul")
	errBroken    = errors.New("the connection broke, and net/http sent the request again")
)

// whileElecting are parts of what servers answer while they elect a leader: those that forward a request, and the leader itself.
var whileElecting = []string{"No cluster leader", "rpc error", "leadership", "not the leader", "Not ready to serve", "raft apply failed"}

// codeOf returns the code of an error, by which all drivers call it.
func codeOf(err error) string {
	if r, ok := errors.AsType[*refusal](err); ok {
		switch {
		case r.status == http.StatusForbidden, r.says(denied):
			return codeDenied
		case r.status == http.StatusRequestEntityTooLarge:
			return "OutOfRange"
		case r.status == http.StatusTooManyRequests:
			return "ResourceExhausted"
		case r.status >= http.StatusInternalServerError && slices.ContainsFunc(whileElecting, r.says):
			return load.CodeUnavailable
		}
		return codeUnknown
	}
	switch _, ofNetwork := errors.AsType[net.Error](err); {
	case errors.Is(err, errNoLeader), errors.Is(err, errNoAnswer), errors.Is(err, errBroken):
		return load.CodeUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return load.CodeDeadlineExceeded
	case errors.Is(err, context.Canceled):
		return load.CodeCanceled
	case ofNetwork, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return load.CodeUnavailable
	}
	return codeUnknown
}

// isDenied reports whether the token does not give the right.
func isDenied(err error) bool { return err != nil && codeOf(err) == codeDenied }

func hasStatus(err error, status int) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.status == status
}

// passes returns whether an error can be temporary. A wrong address or certificate is not.
func passes(err error) bool {
	_, answered := errors.AsType[*refusal](err)
	temporary := []error{
		errNoLeader, errNoAnswer, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
	}
	return answered && codeOf(err) == load.CodeUnavailable || remote.Passes(err) ||
		slices.ContainsFunc(temporary, func(known error) bool { return errors.Is(err, known) })
}

// settled is the error that a method of the driver returns: the reason why ctx ended, if it has.
func (d *Driver) settled(ctx context.Context, err error, endpoint string) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return d.explain(err, endpoint)
}

// explain adds a reason and advice to an error of an address.
func (d *Driver) explain(err error, endpoint string) error {
	if creds, wrong := d.credentials(); wrong == nil {
		err = creds.TLS.Refusal(err)
	}
	return remote.Explain(err, endpoint, ofServers, secrets.Explain, func(err error) (results.FailureReason, string) {
		return remote.Network("Consul", err)
	})
}

// ofServers explains errors that are specific to Consul, and how net/http says that the other side does without TLS.
func ofServers(err error) (results.FailureReason, string) {
	r, refused := errors.AsType[*refusal](err)
	switch code := codeOf(err); {
	case errors.Is(err, errNoLeader), refused && code == load.CodeUnavailable:
		return results.FailureNoQuorum, "has no leader: a majority of the servers is not up, or they do not reach each other"
	case errors.Is(err, errNotConsul):
		return results.FailureTargetUnhealthy, "does not answer as Consul does; check that it is the HTTP port of a Consul server"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return secrets.Explain(secrets.ErrServesPlain)
	case !refused:
		return "", ""
	case r.says("HTTP request to an HTTPS server"):
		return secrets.Explain(secrets.ErrServesTLS)
	case r.says("ACL not found"):
		return results.FailureAuthenticationFailed, "does not know the token; check spec.target.auth"
	case code == codeDenied:
		return results.FailureAuthenticationFailed, "does not permit this; give a token in spec.target.auth whose policy has key_prefix " +
			"with policy = \"write\" for the run's prefix: etcdbench/, or spec.target.keyPrefix"
	case r.status == http.StatusTooManyRequests:
		return results.FailureTargetUnhealthy, "takes no further connection from this address " +
			"(limits.http_max_conns_per_client, 200 by default); lower spec.load.connections, raise " +
			"spec.load.pods, or raise the limit"
	}
	return results.FailureTargetUnhealthy, "refuses a request"
}
