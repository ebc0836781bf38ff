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
	// Alone is closed once no other session of the run loads the target any more.
	Alone() <-chan struct{}
	// Stopped is closed once the load is to end early.
	Stopped() <-chan struct{}
}
