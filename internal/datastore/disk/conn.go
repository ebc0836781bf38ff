package disk

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// conn hands entries to the goroutine that writes the log. No disk can keep Do longer than the request's time-out.
type conn struct {
	requests *load.RequestCounter
	// sent numbers the entries; only the client uses it.
	sent    uint64
	entries chan entry
	// written has one place, so that the writer never waits for a request that has given up.
	written chan outcome
	// closing ends the writer when it is closed, and ended is closed when the writer has closed its files.
	closing, ended chan struct{}
}

// entry is the data of one entry, which the writer may still read after its request has timed out: values never change.
type entry struct {
	number uint64
	data   []byte
}

// outcome is what became of an entry. The flush began at flushed.
type outcome struct {
	number                uint64
	sent, flushed, synced load.Instant
	err                   error
	// refused: nothing was written, because an earlier entry failed with err.
	refused bool
}

// newConn starts the writer. It calls lost with the first error of the log.
func newConn(w *writer, requests *load.RequestCounter, closing chan struct{}, lost func(error)) *conn {
	c := &conn{requests: requests, entries: make(chan entry), written: make(chan outcome, 1), closing: closing, ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		defer w.close()
		c.serve(w, lost)
	}()
	return c
}

// serve writes entries until the driver is closed.
func (c *conn) serve(w *writer, lost func(error)) {
	for {
		select {
		case e := <-c.entries:
			o := w.append(e.data)
			o.number = e.number
			if o.err != nil && !o.refused {
				lost(o.err)
			}
			select {
			case c.written <- o:
			case <-c.closing:
				return
			}
		case <-c.closing:
			return
		}
	}
}

// Do implements load.Conn.
func (c *conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	if req.Operation != spec.OperationAppend {
		resp.Unknown(req.Operation)
		return
	}
	began, timeout := load.Now(), time.NewTimer(req.Timeout)
	defer timeout.Stop()
	c.sent++
	c.requests.Add(spec.RPCAppend, load.PhaseOf(ctx))
	entries := c.entries
	for {
		select {
		case entries <- entry{c.sent, req.Value}:
			entries = nil
		case o := <-c.written:
			// An older entry is that of a request that has timed out.
			if o.number == c.sent {
				*resp = o.response()
				return
			}
		case <-timeout.C:
			*resp = load.Response{Sent: began, Received: load.Now(), Code: load.CodeDeadlineExceeded, Detail: "the disk did not flush in time"}
			return
		case <-ctx.Done():
			*resp = load.Response{Sent: began, Received: load.Now(), Code: load.CodeCanceled, Detail: "the load ended before the disk had flushed"}
			return
		}
	}
}

// codeResourceExhausted is gRPC's code for a full disk.
const codeResourceExhausted, codeUnknown = "ResourceExhausted", "Unknown"

func (o outcome) response() load.Response {
	r := load.Response{Sent: o.sent, Received: o.synced, InnerSince: o.flushed}
	if o.err != nil {
		r.Code, r.Detail, r.InnerSince = codeUnknown, o.err.Error(), 0
		switch {
		case o.refused:
			r.Code = load.CodeUnavailable
		case errors.Is(o.err, syscall.ENOSPC):
			r.Code = codeResourceExhausted
		}
	}
	return r
}
