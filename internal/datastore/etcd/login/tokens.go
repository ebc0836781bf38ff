package login

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Tokens holds the token that all connections of a process send. It replaces the token before it expires, and after a member
// has refused it. A nil *Tokens is a process without a user.
type Tokens struct {
	// request logs in. It returns an empty token if the target has authentication disabled.
	request func(context.Context) (string, error)
	timeout time.Duration
	living  context.Context
	end     context.CancelFunc
	// resent counts the requests that were sent again.
	resent atomic.Uint64

	mutex sync.Mutex
	token string
	// since is when the token came. logins counts the logins.
	since    time.Time
	logins   int
	renewing bool
	// failed: the last login has failed.
	failed bool
	// pause is the pause between two logins, until retryAt: a login is expensive for etcd by design.
	pause   time.Duration
	retryAt time.Time
	expiry  *time.Timer
	renewed []func(token string)
}

// New returns the tokens of a user. request logs in within the timeout. The caller must call Close.
func New(request func(context.Context) (string, error), timeout time.Duration) *Tokens {
	living, end := context.WithCancel(context.Background())
	return &Tokens{request: request, timeout: timeout, living: living, end: end}
}

// Close ends a login that is in progress. There are no others after it.
func (t *Tokens) Close() {
	if t == nil {
		return
	}
	t.end()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.expiry != nil {
		t.expiry.Stop()
	}
}

// First logs in, unless there is a token already.
func (t *Tokens) First(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.logins > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	token, err := t.request(ctx)
	if err != nil {
		return fmt.Errorf("authenticating: %w", err)
	}
	t.set(token)
	return nil
}

// Current returns the token, "" if there is none.
func (t *Tokens) Current() string {
	if t == nil {
		return ""
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.token
}

// Renewing reports whether a login is in progress.
func (t *Tokens) Renewing() bool {
	if t == nil {
		return false
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.renewing
}

// Resent counts the requests that were sent again because of their tokens.
func (t *Tokens) Resent() uint64 {
	if t == nil {
		return 0
	}
	return t.resent.Load()
}

// OnRenewal calls f with each later token.
func (t *Tokens) OnRenewal(f func(token string)) {
	if t == nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.renewed = append(t.renewed, f)
}

// set keeps a new token. The lock is held.
func (t *Tokens) set(token string) {
	t.token, t.since = token, time.Now()
	t.logins++
	if t.expiry != nil {
		t.expiry.Stop()
	}
	if lifetime := lifetimeOf(token); lifetime > 0 && t.living.Err() == nil {
		t.expiry = time.AfterFunc(lifetime*2/3, func() { t.renew(token) })
	}
}

// renew starts a login, unless the token is no longer the current one, or a login was made just before.
func (t *Tokens) renew(token string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.renewing && token == t.token && !time.Now().Before(t.retryAt) {
		t.start()
	}
}

// start starts a login. The lock is held.
func (t *Tokens) start() {
	if t.living.Err() != nil {
		return
	}
	t.renewing = true
	go t.login()
}

func (t *Tokens) login() {
	ctx, cancel := context.WithTimeout(t.living, t.timeout)
	defer cancel()
	token, err := t.request(ctx)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.renewing, t.failed = false, err != nil
	t.backOff()
	if err != nil {
		return
	}
	t.set(token)
	for _, f := range t.renewed {
		f(token)
	}
}

// backOff prevents logins until retryAt. The pause grows each time, unless the last token was valid for longer than the
// longest pause.
func (t *Tokens) backOff() {
	now := time.Now()
	if now.Sub(t.retryAt) > longestLoginPause {
		t.pause = 0
	}
	t.pause = min(max(2*t.pause, shortestLoginPause), longestLoginPause)
	t.retryAt = now.Add(t.pause)
}

// lifetimeOf returns how long a token is still valid by the clock of this process; 0 if the token does not say so. Only a JSON
// Web Token does. etcd extends any other token with each use.
func lifetimeOf(token string) time.Duration {
	claims := &jwt.RegisteredClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil || claims.ExpiresAt == nil {
		return 0
	}
	return time.Until(claims.ExpiresAt.Time)
}
