package consul

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// The leases of a run are sessions. Consul chooses their IDs, so only the pod that has created a session knows it. The names of
// sessions have the UID of their run, by which another pod finds them.

const (
	sessionPath = "/v1/session/"
	// shortestTTL is the shortest that Consul accepts.
	shortestTTL = 10 * time.Second
)

// session is a session as Consul returns it.
type session struct{ ID, Name string }

// newSession is the body that creates a session. It has no checks: it does not depend on the health of a server.
func newSession(name string, ttl time.Duration) []byte {
	return fmt.Appendf(nil, `{"Name": %q, "TTL": %q, "Behavior": "delete", "LockDelay": "0s", "Checks": [], "NodeChecks": []}`, name, ttl.String())
}

// sessionsOf is how the names of a run's sessions begin.
func sessionsOf(uid string) string { return "etcdbench " + uid + " " }

func create(body []byte) http1.Request { return put(spec.RPCSessionCreate, sessionPath+"create", body) }

func destroy(id string) http1.Request {
	return put(spec.RPCSessionDestroy, sessionPath+"destroy/"+id, nil)
}

// leases are the sessions of a pod's load.
type leases struct {
	// create is the body that creates one.
	create []byte
	// preloaded are the IDs of the sessions that this pod creates before the load.
	preloaded []string
}

func (d *Driver) newLeases() (l leases) {
	name, lease := fmt.Sprintf("%spod %d", sessionsOf(d.plan.RunUID), d.index), d.plan.Workload.Lease
	l.create = newSession(name, contestTTL)
	if lease != nil {
		l.create = newSession(name, time.Duration(lease.TTLSeconds)*time.Second)
		l.preloaded = make([]string, workload.CountModulo(d.plan.PreloadCount(), d.plan.Pods(), d.index))
	}
	return l
}

// checkShare fails if a pod would have no session to renew.
func (d *Driver) checkShare() error {
	lease, pods := d.plan.Workload.Lease, d.plan.Pods()
	if lease == nil || lease.KeepAlive == nil || lease.KeepAlive.Leases >= int64(pods) {
		return nil
	}
	return load.Errorf(results.FailureInvalidPlan, "each client pod renews the sessions that it has created, and %d leases are too few for %d client pods: "+
		"raise lease.keepAlive.leases, or lower load.pods", lease.KeepAlive.Leases, pods)
}

// preloaded returns where the ID of a preloaded session is. A pod renews its own sessions in turn, although the lease with this
// number may be of another pod.
func (d *Driver) preloaded(lease int64) *string {
	if len(d.leases.preloaded) == 0 {
		return new(string)
	}
	own := (lease - d.plan.FirstLease) / int64(d.plan.Pods())
	return &d.leases.preloaded[own%int64(len(d.leases.preloaded))]
}

func (c *conn) createSession(ctx context.Context, req *load.Request, resp *load.Response) {
	body, _ := c.exchange(ctx, create(c.driver.leases.create), resp)
	var made session
	switch {
	case !resp.Succeeded():
	case json.Unmarshal(body, &made) != nil || made.ID == "":
		resp.Code, resp.Detail = codeUnknown, errNotConsul.Error()
	case req.Preload:
		*c.driver.preloaded(req.Lease) = made.ID
	}
}

func (c *conn) renewSession(ctx context.Context, req *load.Request, resp *load.Response) {
	path := sessionPath + "renew/" + *c.driver.preloaded(req.Lease)
	if _, found := c.exchange(ctx, put(spec.RPCSessionRenew, path, nil), resp); resp.Succeeded() && !found {
		resp.Code, resp.Detail = load.CodeNotFound, "the session does not exist: it was destroyed, or it was not renewed in time and expired; raise lease.ttlSeconds"
	}
}

func (c *conn) destroySession(ctx context.Context, req *load.Request, resp *load.Response) {
	c.change(ctx, destroy(*c.driver.preloaded(req.Lease)), resp)
}

// checkSessions creates and destroys a session at each server, for the rights on the servers' sessions. The run does not own
// its prefix yet, so a session that it left would only expire.
func (d *Driver) checkSessions(ctx context.Context) error {
	check := create(newSession(sessionsOf(d.plan.RunUID)+"check", shortestTTL))
	for _, endpoint := range d.addresses.Loaded() {
		err := remote.Repeat(ctx, passes, func(ctx context.Context) error {
			body, _, err := d.sendControl(ctx, endpoint, check, everything)
			var made session
			if err == nil && json.Unmarshal(body, &made) != nil {
				err = errNotConsul
			}
			if err == nil {
				_, _, err = d.sendControl(ctx, endpoint, destroy(made.ID), everything)
			}
			return err
		})
		if isDenied(err) {
			return load.Errorf(results.FailureAuthenticationFailed, "%s does not permit sessions, which this run needs; give a token in spec.target.auth "+
				"whose policy has session_prefix \"\" with policy = \"write\", beside key_prefix for the run's prefix: %w", endpoint, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sessions returns the IDs of a run's sessions. Consul has no pages: of a long list, only these are kept.
func (k kv) sessions(ctx context.Context, uid string) (ids []string, err error) {
	r := get(spec.RPCSessionList, sessionPath+"list?consistent")
	r.Decode = func(body io.Reader) error {
		ids = nil
		list := json.NewDecoder(body)
		start, err := list.Token()
		for err == nil && list.More() {
			var s session
			if err = list.Decode(&s); err == nil && strings.HasPrefix(s.Name, sessionsOf(uid)) {
				ids = append(ids, s.ID)
			}
		}
		if _, wrong := errors.AsType[*json.SyntaxError](err); wrong || err == nil && start != json.Delim('[') {
			return errNotConsul
		}
		if err == nil {
			// More does not tell the end of a list from the end of the connection.
			_, err = list.Token()
		}
		return err
	}
	_, _, err = k.ask(ctx, r, everything)
	return ids, err
}

const (
	// revokeFactor is how much longer Consul needs to destroy a session than etcd needs to delete a key.
	revokeFactor = 8
	// revokeBlock is how many sessions at most are destroyed before the driver checks again whether it may go on. They wait for
	// the few connections of the driver, within the time of one request.
	revokeBlock = 100
)

// Revoke implements ownership.Revoker. It destroys the run's sessions.
func (c *claims) Revoke(ctx context.Context, check func(context.Context) error) (revoked int64, err error) {
	if !c.sessions {
		return 0, nil
	}
	own := kv{c.driver}
	list := func(ctx context.Context) ([]string, error) { return own.sessions(ctx, c.Run.UID) }
	return ownership.RevokeAll(ctx, check, revokeBlock, list, func(ctx context.Context, some []string) error {
		return cmp.Or(remote.All(some, func(i int) error {
			_, err := own.change(ctx, destroy(some[i]))
			return err
		})...)
	})
}
