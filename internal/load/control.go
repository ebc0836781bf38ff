package load

import (
	"context"
	"time"
)

// Control is how the outside steers a session.
type Control interface {
	// StartAt waits until the common start is known and returns it. It may lie
	// in the past: the session then starts at once.
	StartAt(ctx context.Context) (time.Time, error)
	// Turn waits until a session whose plan awaits its turn may write.
	Turn(ctx context.Context) error
	// Stopped is closed once the load is to end early.
	Stopped() <-chan struct{}
}
