package consul

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// conn is a connection of the load. HTTP/1.1 carries one request at a time.
type conn struct {
	link
	endpoint string
}

// operations has how a connection carries out each operation.
var operations = map[spec.Operation]func(*conn, context.Context, *load.Request, *load.Response){
	spec.OperationPut:            (*conn).put,
	spec.OperationRange:          (*conn).get,
	spec.OperationDelete:         (*conn).delete,
	spec.OperationTxn:            (*conn).txn,
	spec.OperationCompareAndSwap: (*conn).compareAndSwap,
	spec.OperationLeaseGrant:     (*conn).createSession,
	spec.OperationLeaseKeepAlive: (*conn).renewSession,
	spec.OperationLeaseRevoke:    (*conn).destroySession,
}

// Do implements load.Conn. Sent is just before net/http gets the first request: the service time includes a dial after a
// loss. The responses to reads are decoded, as by Consul's own library, and after Received.
func (c *conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	do := operations[req.Operation]
	if do == nil {
		resp.Unknown(req.Operation)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	*resp = load.Response{}
	do(c, ctx, req, resp)
}

// exchange sends one of the requests of an operation.
func (c *conn) exchange(ctx context.Context, r http1.Request, resp *load.Response) (body []byte, found bool) {
	if resp.Sent == 0 {
		resp.Sent = load.Now()
	}
	body, found, err := c.send(ctx, c.endpoint, r, everything)
	finish(resp, err)
	return body, found
}

// finish completes the response to a request.
func finish(resp *load.Response, err error) {
	if resp.Received = load.Now(); err != nil {
		resp.Code, resp.Detail = kindOf(err).code, err.Error()
	}
}

// change sends a request that succeeds with the response true.
func (c *conn) change(ctx context.Context, r http1.Request, resp *load.Response) {
	if body, _ := c.exchange(ctx, r, resp); resp.Succeeded() && !isTrue(body) {
		resp.Code, resp.Detail = codeUnknown, "the server answered "+strconv.Quote(string(body))
	}
}

func isTrue(body []byte) bool { return string(bytes.TrimSpace(body)) == "true" }

// put copies the value: after a time-out, net/http can still read it.
func (c *conn) put(ctx context.Context, req *load.Request, resp *load.Response) {
	c.change(ctx, put(spec.RPCKVPut, kvPath+string(req.Key), bytes.Clone(req.Value)), resp)
}

// delete succeeds for a missing key, too: Consul does not tell.
func (c *conn) delete(ctx context.Context, req *load.Request, resp *load.Response) {
	c.change(ctx, remove(kvPath+string(req.Key)), resp)
}

// modes are the queries of reads.
var modes = map[spec.Consistency]string{spec.Linearizable: "?consistent", spec.Leader: "", spec.Serializable: "?stale"}

func (c *conn) get(ctx context.Context, req *load.Request, resp *load.Response) {
	if len(req.End) > 0 {
		c.readFolder(ctx, req, resp)
		return
	}
	c.mustRead(ctx, req, modes[req.Consistency], resp)
}

// readFolder reads all keys of a folder in one response.
func (c *conn) readFolder(ctx context.Context, req *load.Request, resp *load.Response) {
	path := kvPath + string(req.Key) + cmp.Or(modes[req.Consistency], "?") + "&recurse"
	body, found := c.exchange(ctx, get(spec.RPCKVGet, path), resp)
	var all []entry
	switch {
	case !resp.Succeeded():
	case found && json.Unmarshal(body, &all) != nil:
		resp.Code, resp.Detail = codeUnknown, errNotConsul.Error()
	case int64(len(all)) < req.Needs:
		resp.Code, resp.Detail = load.CodeNotFound, req.Missing(int64(len(all)))
	}
}

// mustRead reads the key of a request, which must exist.
func (c *conn) mustRead(ctx context.Context, req *load.Request, mode string, resp *load.Response) entry {
	e, found := c.read(ctx, kvPath+string(req.Key)+mode, resp)
	if resp.Succeeded() && !found {
		resp.Code, resp.Detail = load.CodeNotFound, req.Missing(0)
	}
	return e
}

// read reads a key.
func (c *conn) read(ctx context.Context, path string, resp *load.Response) (e entry, found bool) {
	body, found := c.exchange(ctx, get(spec.RPCKVGet, path), resp)
	if !resp.Succeeded() || !found {
		return e, false
	}
	var all []entry
	if json.Unmarshal(body, &all) != nil || len(all) != 1 {
		resp.Code, resp.Detail = codeUnknown, errNotConsul.Error()
		return e, false
	}
	return all[0], true
}

// compareAndSwap always reads the index anew, as the driver of etcd does.
func (c *conn) compareAndSwap(ctx context.Context, req *load.Request, resp *load.Response) {
	old := c.mustRead(ctx, req, modes[spec.Linearizable], resp)
	if !resp.Succeeded() {
		return
	}
	path := kvPath + string(req.Key) + "?cas=" + strconv.FormatInt(old.ModifyIndex, 10)
	body, _ := c.exchange(ctx, put(spec.RPCKVPut, path, bytes.Clone(req.Value)), resp)
	resp.Lost = resp.Succeeded() && !isTrue(body)
}

// txn writes several keys in one transaction.
func (c *conn) txn(ctx context.Context, req *load.Request, resp *load.Response) {
	c.exchange(ctx, put(spec.RPCTxn, txnPath, setAll(req.Pairs)), resp)
}

// setAll is the body of a transaction that writes keys. Their names need no quotes: see the row of Consul in package spec.
func setAll(pairs []load.Pair) []byte {
	const before, between, after = `{"KV":{"Verb":"set","Key":"`, `","Value":"`, `"}},`
	size := len("[]")
	for _, p := range pairs {
		size += len(before) + len(p.Key) + len(between) + base64.StdEncoding.EncodedLen(len(p.Value)) + len(after)
	}
	body := append(make([]byte, 0, size), '[')
	for _, p := range pairs {
		body = append(append(append(body, before...), p.Key...), between...)
		body = append(base64.StdEncoding.AppendEncode(body, p.Value), after...)
	}
	body[len(body)-1] = ']'
	return body
}
