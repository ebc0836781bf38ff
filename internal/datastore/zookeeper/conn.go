package zookeeper

import (
	"bytes"
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// operations has, for each operation that the driver knows, the function that prepares a call of go-zookeeper. The
// prepared call does not refer to the request's bytes, because it can outlive the request.
var operations = map[spec.Operation]func(*conn, *load.Request) (call func() error){
	spec.OperationPut: create,
}

// conn is one session of the load.
type conn struct {
	session *session
	tree    tree
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
	type answer struct {
		at  load.Instant
		err error
	}
	answered := make(chan answer, 1)
	*resp = load.Response{Sent: load.Now()}
	go func() {
		err := call()
		answered <- answer{load.Now(), err}
	}()
	var a answer
	select {
	case a = <-answered:
	case <-limit.C:
		a = answer{load.Now(), context.DeadlineExceeded}
	case <-ctx.Done():
		a = answer{load.Now(), ctx.Err()}
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
	resp.Received = a.at
	err := a.err
	if err != nil {
		resp.Code, resp.Detail = codeOf(err), err.Error()
	}
}

// create creates the znode of a key. It fails if the znode exists.
func create(c *conn, req *load.Request) func() error {
	path, value := c.tree.path(req.Key), bytes.Clone(req.Value)
	return func() error {
		_, err := c.session.Create(path, value, 0, everybody)
		return err
	}
}

// everybody is the ACL of a run's znodes: the driver does not authenticate.
var everybody = zk.WorldACL(zk.PermAll)
