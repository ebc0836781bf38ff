//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// pollInterval is short compared with the waits, and long compared with a request to the API server.
const pollInterval = 200 * time.Millisecond

// waitFor calls check until it returns nil. The error says what was waited for and what was found last.
func waitFor(ctx context.Context, within time.Duration, what string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, within, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waited %s for %s; last found: %w", within, what, last)
	}
	return nil
}

// eventually is waitFor for tests.
func eventually(t *testing.T, within time.Duration, what string, check func(context.Context) error) {
	t.Helper()
	if err := waitFor(suite.ctx, within, what, check); err != nil {
		t.Fatal(err)
	}
}
