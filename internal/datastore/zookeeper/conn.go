package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// conn is one session of the load.
type conn struct {
	session *session
	tree    tree
	acl     []zk.ACL
	// preloaded: the keys that requests write exist.
	preloaded bool
}

// outcome is what a call of go-zookeeper has returned. lost: another client had changed the key.
type outcome struct {
	at   load.Instant
	lost bool
	err  error
}

// Do implements load.Conn. go-zookeeper's calls have neither a context nor a timeout: after a timeout the call
// continues, and its response is ignored.
func (c *conn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	known := operations[req.Operation]
	if known == nil {
		resp.Unknown(req.Operation)
		return
	}
	call := known(c, req)
	c.session.setPhase(ctx)
	limit := time.NewTimer(req.Timeout)
	defer limit.Stop()
	answered := make(chan outcome, 1)
	*resp = load.Response{Sent: load.Now()}
	go func() {
		lost, err := call()
		answered <- outcome{load.Now(), lost, err}
	}()
	var a outcome
	select {
	case a = <-answered:
	case <-limit.C:
		a = outcome{at: load.Now(), err: context.DeadlineExceeded}
	case <-ctx.Done():
		a = outcome{at: load.Now(), err: ctx.Err()}
	}
	if a.err != nil {
		// A response that came in time counts, even if the timer fired first.
		select {
		case came := <-answered:
			if came.at.Sub(resp.Sent) <= req.Timeout {
				a = came
			}
		default:
		}
	}
	resp.Received, resp.Lost = a.at, a.lost
	if a.err != nil {
		c.fail(a.err, req, resp)
	}
}

// fail fills the response to a request that has failed.
func (c *conn) fail(err error, req *load.Request, resp *load.Response) {
	resp.Code, resp.Detail = codeOf(err), detailOf(err)
	missing := req.Missing(0)
	switch away := c.session.away(); {
	case resp.Code == load.CodeNotFound && missing != "":
		resp.Detail = missing
	case errors.Is(err, context.DeadlineExceeded) && away > 0:
		resp.Code, resp.Detail = load.CodeUnavailable, fmt.Sprintf("the session has had no connection for %s", text.Duration(away))
	}
}

// lateConn opens its session with its first request. It has one client.
type lateConn struct {
	driver *Driver
	number int
	conn   *conn
}

// Do implements load.Conn. The request's timeout includes connecting. A request that opens no session leaves none, and the next
// one begins anew.
func (l *lateConn) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	began := load.Now()
	if l.conn == nil {
		bounded, cancel := context.WithTimeout(ctx, req.Timeout)
		defer cancel()
		var err error
		if l.conn, err = l.driver.connectOnce(bounded, l.number); err != nil {
			*resp = load.Response{Sent: began, Received: load.Now(), Code: codeOf(err), Detail: detailOf(err)}
			if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
				resp.Code = load.CodeDeadlineExceeded
			}
			return
		}
	}
	rest := *req
	rest.Timeout -= load.Now().Sub(began)
	l.conn.Do(ctx, &rest, resp)
	resp.Sent = began
}
