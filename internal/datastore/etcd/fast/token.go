package fast

import (
	"context"
	"fmt"
	"sync"
)

// tokens keeps the token that all connections send.
type tokens struct {
	client *Client

	mutex    sync.Mutex
	token    string
	got      bool
	renewing bool
}

// current returns the token, "" if there is none.
func (t *tokens) current() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.token
}

// first gets the token if nobody has yet.
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

// renew gets another token, because a server has refused this one, and hands
// it to all connections. It does not wait. Until then requests keep failing.
func (t *tokens) renew() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.renewing || t.client.config.Token == nil {
		return
	}
	t.renewing = true
	go func() {
		ctx, cancel := context.WithTimeout(t.client.living, t.client.config.DialTimeout)
		defer cancel()
		token, err := t.client.config.Token(ctx)
		t.renewed(token, err)
	}()
}

func (t *tokens) renewed(token string, err error) {
	t.mutex.Lock()
	t.renewing = false
	if err == nil {
		t.token = token
	}
	t.mutex.Unlock()
	if err == nil {
		t.client.setToken(token)
	}
}

// setToken gives a token to the links that live.
func (c *Client) setToken(token string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, conn := range c.conns {
		conn.loop.Post(func() {
			for k := range conn.links {
				k.http.SetToken(token)
			}
		})
	}
}
