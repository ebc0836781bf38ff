package login

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// lifetimeOf returns how long a token is still valid by the clock of this process; 0 if the token does not say so. Only a JSON
// Web Token does. etcd extends any other token with each use.
func lifetimeOf(token string) time.Duration {
	claims := &jwt.RegisteredClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil || claims.ExpiresAt == nil {
		return 0
	}
	return time.Until(claims.ExpiresAt.Time)
}
