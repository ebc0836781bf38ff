package consul

import (
	"context"
	"strconv"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const (
	contestTTL = workload.SessionTTLSeconds * time.Second
	// leaveTimeout bounds the release after a failed request.
	leaveTimeout = 2 * time.Second
)

// contender is one client's connection that competes for a lock or a leadership, as Consul's own library does: its session
// acquires a key, and a blocking query waits while another session has it. There is no queue: a release wakes all who wait.
type contender struct {
	*conn
	path    string
	client  int
	session string
}

// Client implements load.SharedConn.
func (c *conn) Client(ctx context.Context, client int) (load.Conn, error) {
	p := &c.driver.plan
	if !p.UsesSessions() {
		return c, nil
	}
	k := &contender{conn: c, path: kvPath + p.ContestName(client), client: client}
	err := k.open(load.WithPhase(ctx, results.PhaseControl))
	return k, remote.Settled(ctx, err, c.driver.explain, c.driver.addresses.String())
}

// open creates the session, and renews it from now on.
func (k *contender) open(ctx context.Context) error {
	var made session
	if err := (kv{k.driver}).read(ctx, create(k.driver.leases.create), &made); err != nil {
		return err
	}
	k.session = made.ID
	go k.driver.renew(made.ID)
	return nil
}

// renew renews a session until it has ended, or the driver is closed.
func (d *Driver) renew(session string) {
	again := time.NewTicker(contestTTL / 2)
	defer again.Stop()
	for {
		select {
		case <-d.closed:
			return
		case <-again.C:
		}
		_, found, err := d.ask(context.Background(), put(spec.RPCSessionRenew, sessionPath+"renew/"+session, nil), everything)
		if err == nil && !found {
			return
		}
	}
}

// Do implements load.Conn.
func (k *contender) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	within, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	*resp = load.Response{}
	switch {
	case req.Operation.Inner() != "":
		k.win(within, resp)
	case req.Operation.IsPart():
		k.yield(within, resp)
	default:
		resp.Unknown(req.Operation)
		return
	}
	if !resp.Succeeded() {
		k.driver.handOffs.Forget(k.session)
		k.leave(ctx, resp)
	}
}

// win waits until this client has the key. It replaces a session that has ended.
func (k *contender) win(ctx context.Context, resp *load.Response) {
	var before string
	for won := false; !won && resp.Succeeded(); {
		if holder := k.await(ctx, resp); holder != "" {
			before = holder
		}
		if resp.Succeeded() {
			name := strconv.AppendInt(nil, int64(k.client), 10)
			body, _ := k.exchange(ctx, put(spec.RPCKVPut, k.path+"?acquire="+k.session, name), resp)
			won = isTrue(body)
		}
		if resp.Code == load.CodeNotFound {
			resp.Code, resp.Detail = "", ""
			finish(resp, k.open(ctx))
		}
	}
	if resp.Succeeded() {
		resp.InnerSince = k.driver.handOffs.Freed(before, resp.Received)
		k.driver.handOffs.Forget(k.session)
	}
}

// await waits until no other session has the key, and returns the last one that had it.
func (k *contender) await(ctx context.Context, resp *load.Response) (holder string) {
	for query := ""; ; {
		e, _ := k.read(ctx, k.path+query, resp)
		if !resp.Succeeded() || e.Session == "" || e.Session == k.session {
			return holder
		}
		holder, query = e.Session, "?wait=15s&index="+strconv.FormatInt(e.ModifyIndex, 10)
	}
}

// yield releases the key.
func (k *contender) yield(ctx context.Context, resp *load.Response) {
	k.driver.handOffs.Begin(k.session)
	body, _ := k.exchange(ctx, k.release(), resp)
	switch {
	case !resp.Succeeded():
	case isTrue(body):
		k.driver.handOffs.End(k.session, resp.Received)
	default:
		resp.Code, resp.Detail = load.CodeNotFound, "the client's session has ended, because it was not renewed in time; its lock was deleted with it"
	}
}

func (k *contender) release() http1.Request {
	return put(spec.RPCKVPut, k.path+"?release="+k.session, nil)
}

// leave releases what a failed request may have got, so that other clients need not wait for it. If that fails, the end of the
// session releases it.
func (k *contender) leave(ctx context.Context, resp *load.Response) {
	ctx, cancel := context.WithTimeout(load.WithPhase(context.WithoutCancel(ctx), results.PhaseControl), leaveTimeout)
	defer cancel()
	_, _, _ = k.driver.sendControl(ctx, k.endpoint, k.release(), everything)
	resp.Cleared = load.Now()
}
