package login

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// maxWait bounds waits for what must come.
const maxWait = 20 * time.Second

func tokensOf(t testing.TB, request func(context.Context) (string, error)) *Tokens {
	t.Helper()
	tokens := New(request, time.Minute)
	t.Cleanup(tokens.Close)
	return tokens
}

// A JSON Web Token is replaced before it expires, again and again, without a refusal.
func TestATokenIsReplacedBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logins := 0
		tokens := New(func(context.Context) (string, error) {
			logins++
			return jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"exp": time.Now().Add(5 * time.Minute).Unix(), "id": logins}).SignedString([]byte("key"))
		}, time.Minute)
		defer tokens.Close()
		if err := tokens.First(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			first := tokens.Current()
			time.Sleep(5*time.Minute - 2*time.Second)
			synctest.Wait()
			if tokens.Current() == first {
				t.Fatalf("after %d logins, the token has expired", logins)
			}
		}
		if logins > 7 || tokens.Resent() != 0 {
			t.Errorf("%d logins in 20 minutes", logins)
		}
	})
}

// A token that is not a JSON Web Token has no lifetime.
func TestLifetimeOfOtherTokens(t *testing.T) {
	for _, token := range []string{"", "abc.12", "a.b.c", "{}.{}.{}"} {
		if got := lifetimeOf(token); got != 0 {
			t.Errorf("%q lives for %v", token, got)
		}
	}
}

// A member that does not know a new token yet causes no login.
func TestANewTokenIsTriedAgain(t *testing.T) {
	logins := 0
	tokens := tokensOf(t, func(context.Context) (string, error) { logins++; return "token", nil })
	if err := tokens.First(t.Context()); err != nil {
		t.Fatal(err)
	}
	var r Refusals
	if pause, again := tokens.Again(&r, "token"); !again || pause <= 0 || tokens.Renewing() || logins != 1 {
		t.Errorf("again: %v after %v, with %d logins", again, pause, logins)
	}
}

// The bits of a step of FuzzLogin: which token is refused, whether the pause after the last login is over, and the
// result of the next login.
const (
	refuseOther = 1 << iota
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

// await waits for the effects of a login.
func (s *loginServer) await(t *testing.T) {
	t.Helper()
	select {
	case over := <-s.over:
		<-over
	case <-time.After(maxWait):
		t.Fatalf("no login in %v", maxWait)
	}
}

// FuzzLogin refuses tokens in any order and lets logins fail. It checks that each refusal of the current token causes
// one login, that no login begins before the pause is over, and that a request fails if no login can help it.
func FuzzLogin(f *testing.F) {
	f.Add("token", []byte{0})
	f.Add("", []byte{pauseIsOver, pauseIsOver | refuseOther, pauseIsOver | loginGivesTheSame})
	f.Add("long token", []byte{pauseIsOver | loginFails, 0, pauseIsOver | loginGivesTheSame, loginFails, pauseIsOver})
	f.Fuzz(func(t *testing.T, token string, steps []byte) {
		server := &loginServer{token: token, step: loginGivesTheSame, over: make(chan (<-chan struct{}), 1)}
		tokens := tokensOf(t, server.login)
		if err := tokens.First(t.Context()); err != nil || tokens.Current() != token {
			t.Fatalf("the first login gave %q (%v), wanted %q", tokens.Current(), err, token)
		}
		server.await(t)
		for i, step := range steps {
			checkRefusal(t, i, tokens, server, step)
		}
		logins := server.logins
		if err := tokens.First(t.Context()); err != nil || server.logins != logins {
			t.Errorf("another connection logged in anew: %v", err)
		}
	})
}

// checkRefusal refuses one token and checks the result.
func checkRefusal(t *testing.T, i int, tokens *Tokens, server *loginServer, step byte) {
	t.Helper()
	refused, want, logins := tokens.Current(), tokens.Current(), server.logins
	if step&refuseOther != 0 {
		refused += "?"
	}
	over := step&pauseIsOver != 0
	tokens.age(over)
	server.step = step
	due := refused == want && over
	fails := refused == want && !over && tokens.failed
	if _, again := tokens.Again(&Refusals{}, refused); again == fails {
		t.Errorf("step %d (%05b): the request is sent again: %v", i, step, again)
	}
	if due {
		server.await(t)
		logins++
	}
	if due && step&loginFails == 0 {
		want = server.token
	}
	if tokens.Current() != want || server.logins != logins || tokens.Renewing() {
		t.Errorf("step %d (%05b): the token is %q after %d logins, wanted %q after %d", i, step, tokens.Current(), server.logins, want, logins)
	}
	if due && (tokens.pause < shortestLoginPause || tokens.pause > longestLoginPause) {
		t.Errorf("step %d: the pause is %v", i, tokens.pause)
	}
}

// age makes the token an old one, and sets whether the pause after the last login is over.
func (t *Tokens) age(over bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.since = t.since.Add(-time.Hour)
	if t.retryAt = (time.Time{}); !over {
		t.retryAt = time.Now().Add(time.Hour)
	}
}
