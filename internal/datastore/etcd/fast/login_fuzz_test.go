package fast

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// The bits of a step of FuzzLogin: which token is refused, whether the pause after the last login is over, and the
// result of the next login.
const (
	refuseOther = 1 << iota
	refuseNone
	pauseIsOver
	loginFails
	loginGivesTheSame
)

// loginServer issues tokens, and decides the result of the next login.
type loginServer struct {
	token  string
	logins int
	step   byte
	// over has, for each login, a channel that is closed once the login's effects are done.
	over chan (<-chan struct{})
}

func (s *loginServer) login(ctx context.Context) (string, error) {
	s.logins++
	s.over <- ctx.Done()
	switch {
	case s.step&loginFails != 0:
		return "", errors.New("the user is gone")
	case s.step&loginGivesTheSame == 0:
		s.token = fmt.Sprint(s.token[:len(s.token)/2], s.logins)
	}
	return s.token, nil
}

// await waits for the effects of a login. The first login has none.
func (s *loginServer) await(t *testing.T) {
	t.Helper()
	select {
	case over := <-s.over:
		if s.logins > 1 {
			<-over
		}
	case <-time.After(maxWait):
		t.Fatalf("no login in %v", maxWait)
	}
}

// FuzzLogin refuses tokens in any order and lets logins fail. It checks that each refusal of the current token causes
// one login, and that no login begins before the pause is over.
func FuzzLogin(f *testing.F) {
	f.Add("token", []byte{0})
	f.Add("", []byte{pauseIsOver, pauseIsOver | refuseOther, pauseIsOver | refuseNone})
	f.Add("long token", []byte{pauseIsOver | loginFails, 0, pauseIsOver | loginGivesTheSame, loginFails, pauseIsOver})
	f.Fuzz(func(t *testing.T, token string, steps []byte) {
		server := &loginServer{token: token, step: loginGivesTheSame, over: make(chan (<-chan struct{}), 1)}
		c := newTestClient(t, Config{Token: server.login, DialTimeout: time.Minute, Loops: 1})
		if err := c.tokens.first(t.Context()); err != nil || c.tokens.current() != token {
			t.Fatalf("the first login gave %q (%v), wanted %q", c.tokens.current(), err, token)
		}
		server.await(t)
		for i, step := range steps {
			checkRefusal(t, i, c.tokens, server, step)
		}
		logins := server.logins
		if err := c.tokens.first(t.Context()); err != nil || server.logins != logins {
			t.Errorf("another connection logged in anew: %v", err)
		}
	})
}

// checkRefusal refuses one token and checks the result.
func checkRefusal(t *testing.T, i int, have *tokens, server *loginServer, step byte) {
	t.Helper()
	refused, want, logins := have.current(), have.current(), server.logins
	switch {
	case step&refuseOther != 0:
		refused += "?"
	case step&refuseNone != 0:
		refused = ""
	}
	have.pauseUntil(step&pauseIsOver == 0)
	server.step = step
	due := refused == want && step&pauseIsOver != 0
	have.refused(refused)
	if due {
		server.await(t)
		logins++
	}
	if due && step&loginFails == 0 {
		want = server.token
	}
	if have.current() != want || server.logins != logins || have.isRenewing() {
		t.Errorf("step %d (%05b): the token is %q after %d logins, wanted %q after %d", i, step, have.current(), server.logins, want, logins)
	}
	if due && (have.pause < firstPause || have.pause > wire.LongestPause) {
		t.Errorf("step %d: the pause is %v", i, have.pause)
	}
}

// pauseUntil sets whether the pause after the last login is still running.
func (t *tokens) pauseUntil(goesOn bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.retryAt = 0; goesOn {
		t.retryAt = load.Now().Add(time.Hour)
	}
}
