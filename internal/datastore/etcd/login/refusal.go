package login

import (
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// etcd's errors for a token, with code InvalidArgument: the token is older than the last change of a user or a role, or
// it is missing.
var oldRevision, noUser = messageOf(rpctypes.ErrGRPCAuthOldRevision), messageOf(rpctypes.ErrGRPCUserEmpty)

func messageOf(err error) string {
	s, _ := status.FromError(err)
	return s.Message()
}

// IsRefusal reports whether a request has failed because of its token. etcd has then not carried it out.
func IsRefusal(code codes.Code, message string) bool {
	return code == codes.Unauthenticated || code == codes.InvalidArgument && (message == oldRevision || message == noUser)
}

const (
	// spreading is how old a token is at most if a member may not know it yet.
	spreading = time.Second
	// shortestPause and longestPause bound the pause before a request is sent again.
	shortestPause, longestPause = 5 * time.Millisecond, 200 * time.Millisecond
	// shortestLoginPause and longestLoginPause bound the pause between two logins.
	shortestLoginPause, longestLoginPause = 50 * time.Millisecond, time.Second
	// maxLogins is the number of logins whose tokens a request tries.
	maxLogins = 3
)

// Refusals are those of one request. The zero value is none.
type Refusals struct {
	// logins counts the logins whose tokens were refused, and login is the last of them.
	logins, login int
	pause         time.Duration
}

// Again is called when a member has refused the token of a request. It starts a login if the token is the current one. It
// returns the pause after which the request shall be sent again, with the token that is current then, and false if the
// request shall fail: there is no user, the last login has failed, or several new tokens were refused.
func (t *Tokens) Again(r *Refusals, token string) (pause time.Duration, again bool) {
	if t == nil {
		return 0, false
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	r.pause = min(max(2*r.pause, shortestPause), longestPause)
	if token == t.token && r.login != t.logins {
		r.logins, r.login = r.logins+1, t.logins
	}
	now := time.Now()
	switch {
	case r.logins > maxLogins || t.living.Err() != nil:
		return 0, false
	case token != t.token:
		r.pause = 0
	case t.renewing || now.Sub(t.since) < spreading && token != "":
	case now.Before(t.retryAt) && t.failed:
		return 0, false
	case now.Before(t.retryAt):
		r.pause = max(r.pause, t.retryAt.Sub(now))
	default:
		t.start()
	}
	t.resent.Add(1)
	return r.pause, true
}
