package remote

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// One address hangs, and the other one answers at its third attempt.
func TestAnAddressThatHangsDoesNotHideARecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var asked atomic.Int64
		began := time.Now()
		ok := Answered(ctx, []string{"hangs", "recovers"}, func(ctx context.Context, endpoint string) bool {
			if endpoint == "hangs" || asked.Add(1) < 6 {
				<-ctx.Done()
				return false
			}
			return true
		})
		if took := time.Since(began); !ok || took > 9*time.Second {
			t.Errorf("got %v after %v, wanted an answer before the time is over", ok, took)
		}
	})
}

// An address needs longer for an answer than a short attempt lasts.
func TestASlowAnswerIsAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if !Answered(ctx, []string{"slow"}, func(ctx context.Context, _ string) bool {
			_ = load.Pause(ctx, 7*time.Second)
			return ctx.Err() == nil
		}) {
			t.Error("a slow answer was not awaited")
		}
	})
}

func TestNoAnswerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if Answered(ctx, []string{"a", "b"}, func(context.Context, string) bool { return false }) || time.Since(began) != 5*time.Second {
			t.Errorf("ended after %v", time.Since(began))
		}
	})
}
