package fast

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/unary"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// tokens holds the token that all connections send.
type tokens struct {
	client *Client

	mutex    sync.Mutex
	token    string
	got      bool
	renewing bool
	// pause is the pause between two logins, until retryAt: a login is expensive for etcd by design.
	pause   time.Duration
	retryAt load.Instant
}

// current returns the token, "" if there is none.
func (t *tokens) current() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.token
}

// first requests the token if there is none yet.
func (t *tokens) first(ctx context.Context) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.got || t.client.config.Token == nil {
		return nil
	}
	token, err := t.client.config.Token(ctx)
	if err != nil {
		return fmt.Errorf("authenticating: %w", err)
	}
	t.token, t.got = token, true
	return nil
}

// etcd's errors for a token, with code InvalidArgument: the token is older than the last change of a user or a role, or
// it is missing.
const (
	oldRevision = "etcdserver: revision of auth store is old"
	noUser      = "etcdserver: user name is empty"
)

// refusesToken returns whether a call has failed because of its token.
func refusesToken(code unary.Code, detail string) bool {
	return code == unary.Unauthenticated || code == unary.InvalidArgument && (detail == oldRevision || detail == noUser)
}

// refused is called when a server has refused a token. It starts a login, whose token goes to all connections; until
// then requests keep failing. It ignores tokens that are no longer current.
func (t *tokens) refused(token string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.client.config.Token == nil || t.renewing || token != t.token || load.Now() < t.retryAt {
		return
	}
	t.renewing = true
	go t.renew()
}

func (t *tokens) renew() {
	ctx, cancel := context.WithTimeout(t.client.wire.Living(), t.client.config.DialTimeout)
	defer cancel()
	token, err := t.client.config.Token(ctx)
	t.renewed(token, err)
	if err == nil {
		t.client.setToken(token)
	}
}

func (t *tokens) renewed(token string, err error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.renewing = false
	if err == nil {
		t.token = token
	}
	t.backOff()
}

// backOff prevents logins until retryAt. The pause grows each time, unless the last token was valid for longer than the
// longest pause.
func (t *tokens) backOff() {
	now := load.Now()
	if now.Sub(t.retryAt) > wire.LongestPause {
		t.pause = 0
	}
	t.pause = wire.Longer(t.pause)
	t.retryAt = now.Add(t.pause)
}

// setToken gives a token to all open links.
func (c *Client) setToken(token string) {
	c.wire.EachSession(func(s wire.Session) { s.(*session).setToken(token) })
}
