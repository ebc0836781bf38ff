package consul

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/secrets"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const kvPath, txnPath = "/v1/kv/", "/v1/txn"

// pathOf is the path of a key, which may have any name.
func pathOf(key string) string { return kvPath + (&url.URL{Path: key}).EscapedPath() }

func get(rpc spec.RPC, path string) http1.Request {
	return http1.Request{RPC: rpc, Method: http.MethodGet, Path: path}
}

func put(rpc spec.RPC, path string, body []byte) http1.Request {
	return http1.Request{RPC: rpc, Method: http.MethodPut, Path: path, Body: body}
}

func remove(path string) http1.Request {
	return http1.Request{RPC: spec.RPCKVDelete, Method: http.MethodDelete, Path: path}
}

const (
	// controlConnections is how many connections a pod opens to a server beside the load.
	controlConnections = 4
	// answerTimeout bounds the wait for a response, so that a server that hangs does not prevent an answer of another one.
	answerTimeout = 5 * time.Second
)

// link is connections to servers.
type link struct {
	*http1.Link
	driver *Driver
}

// open returns a link with at most this many connections to a server, bounded as http1.Open does.
func (d *Driver) open(connections int, each time.Duration) (link, error) {
	creds, err := d.credentials()
	if err != nil {
		return link{}, err
	}
	var config *tls.Config
	if creds.TLS != nil {
		config = creds.TLS.Config
	}
	header := http.Header{}
	if token := creds.Auth[plan.TokenFile]; token != "" {
		header.Set("X-Consul-Token", token)
	}
	l := link{http1.Open(config, connections, each, &d.requests, header), d}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.links = append(d.links, l)
	return l, nil
}

// send sends a request to an address, and reads at most this many bytes of the response. found is false for a missing key.
func (l link) send(ctx context.Context, endpoint string, r http1.Request, most int64) (body []byte, found bool, err error) {
	r.Most = most
	status, body, err := l.Send(ctx, endpoint, r)
	if found = status == http.StatusOK; err == nil && !found && status != http.StatusNotFound {
		err = &refusal{status, strings.TrimSpace(string(body))}
	}
	return body, found, err
}

// sendControl sends a request that is not load to an address.
func (d *Driver) sendControl(ctx context.Context, endpoint string, r http1.Request, most int64) (body []byte, found bool, err error) {
	l, err := d.control()
	if err != nil {
		return nil, false, err
	}
	return l.send(ctx, endpoint, r, most)
}

// ask sends a request that is not load until it is answered, or fails with an error that is not temporary: each can be
// repeated safely. Pods begin with different addresses. After a temporary error the next address follows.
func (d *Driver) ask(ctx context.Context, r http1.Request, most int64) (body []byte, found bool, err error) {
	all := d.addresses.Loaded()
	err = remote.Repeat(ctx, passes, func(ctx context.Context) (err error) {
		turn := d.turn.Load()
		body, found, err = d.sendControl(ctx, all[(int64(d.index)+turn)%int64(len(all))], r, most)
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

// read reads JSON, unless the key is missing.
func (d *Driver) read(ctx context.Context, r http1.Request, into any) error {
	body, found, err := d.ask(ctx, r, everything)
	if err == nil && found && json.Unmarshal(body, into) != nil {
		err = errNotConsul
	}
	return err
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

const codeUnknown, codeDenied, codeTooLarge = "Unknown", "PermissionDenied", "OutOfRange"

var (
	errNoLeader  = errors.New("the servers have no leader")
	errNotConsul = errors.New("the answer is not one of Consul")
	// errNoAnswer: a server did not respond in time. Another one may.
	errNoAnswer = errors.New("the server does not answer")
	// temporary are errors of the network, beside those of remote. A wrong address or certificate is none.
	temporary = []error{errNoAnswer, io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH}
)

// notConsul follows the address of another server.
const notConsul = "does not answer as Consul does; check that it is the HTTP port of a Consul server"

// whileElecting are parts of what servers answer while they elect a leader, and a little after that: those that forward a
// request, and the leader itself.
var whileElecting = []string{"Missing node registration", "No cluster leader", "rpc error", "leadership", "not the leader", "Not ready to serve", "raft apply failed"}

// kind is what the driver knows about an error.
type kind struct {
	// code is the one by which all drivers call the error.
	code string
	// passes: the error can be temporary.
	passes bool
	reason results.FailureReason
	what   string
}

func kindOf(err error) kind {
	r, refused := errors.AsType[*refusal](err)
	if !refused {
		r = new(refusal)
	}
	switch {
	case r.says("ACL not found"):
		return kind{codeDenied, false, results.FailureAuthenticationFailed, "does not know the token; check spec.target.auth"}
	case r.status == http.StatusForbidden, r.says("Permission denied"): // The second one is of an operation of a transaction.
		return kind{codeDenied, false, results.FailureAuthenticationFailed, "does not permit this; give a token in spec.target.auth whose policy " +
			"has key_prefix with policy = \"write\" for the run's prefix: etcdbench/, or spec.target.keyPrefix"}
	case r.status == http.StatusTooManyRequests:
		return kind{"ResourceExhausted", false, results.FailureTargetUnhealthy, "takes no further connection from this address " +
			"(limits.http_max_conns_per_client, 200 by default); lower spec.load.connections, raise spec.load.pods, or raise the limit"}
	case r.says("HTTP request to an HTTPS server"):
		reason, what := secrets.Explain(secrets.ErrServesTLS)
		return kind{codeUnknown, false, reason, what}
	case r.says("invalid session"):
		return kind{load.CodeNotFound, false, results.FailureTargetUnhealthy, "has ended a session of the run"}
	case errors.Is(err, errNoLeader), r.status >= http.StatusInternalServerError && slices.ContainsFunc(whileElecting, r.says):
		return kind{load.CodeUnavailable, true, results.FailureNoQuorum, "has no leader: a majority of the servers is not up, or they do not reach each other"}
	case r.status == http.StatusRequestEntityTooLarge:
		return kind{codeTooLarge, false, results.FailureTargetUnhealthy, "refuses a request"}
	case refused:
		return kind{codeUnknown, false, results.FailureTargetUnhealthy, "refuses a request"}
	case errors.Is(err, errNotConsul):
		return kind{codeUnknown, false, results.FailureTargetUnhealthy, notConsul}
	case slices.ContainsFunc(temporary, func(known error) bool { return errors.Is(err, known) }):
		return kind{code: load.CodeUnavailable, passes: true}
	case errors.Is(err, context.DeadlineExceeded):
		return kind{code: load.CodeDeadlineExceeded, passes: remote.Passes(err)}
	case errors.Is(err, context.Canceled):
		return kind{code: load.CodeCanceled}
	}
	return kind{code: load.CodeUnavailable, passes: remote.Passes(err)}
}

func passes(err error) bool { return kindOf(err).passes }

// isDenied reports whether the token does not give the right.
func isDenied(err error) bool { return err != nil && kindOf(err).code == codeDenied }

// explain adds a reason and advice to an error of an address.
func (d *Driver) explain(err error, endpoint string) error {
	if creds, wrong := d.credentials(); wrong == nil {
		err = creds.TLS.Refusal(err)
	}
	ofServers := func(err error) (results.FailureReason, string) { k := kindOf(err); return k.reason, k.what }
	ofNetwork := func(err error) (results.FailureReason, string) { return remote.Network("Consul", err) }
	return remote.Explain(err, endpoint, ofServers, secrets.Explain, ofNetwork, ofOthers)
}

// ofOthers explains what a server does that does not speak HTTP.
func ofOthers(err error) (results.FailureReason, string) {
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || strings.Contains(err.Error(), "malformed HTTP") {
		return results.FailureTargetUnhealthy, notConsul + ", and whether it serves TLS (spec.target.tls)"
	}
	return "", ""
}
