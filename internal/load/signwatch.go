package load

import (
	"context"
	"errors"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// lookAtSigns is the interval at which the cleanup looks at the signs of life.
const lookAtSigns = 5 * time.Second

// signWatch deletes the keys of a run once the signs of life of its pods stand still.
type signWatch struct {
	driver Driver
	// still is how long they must stand still; podTimeout is how long a change is accepted.
	still, podTimeout, look time.Duration
}

func newSignWatch(d Driver, requestTimeout, podTimeout time.Duration) *signWatch {
	return &signWatch{driver: d, still: plan.StillFor(requestTimeout), podTimeout: podTimeout, look: lookAtSigns}
}

func (w *signWatch) clean(ctx context.Context) error {
	signs, err := w.await(ctx)
	if err != nil {
		return err
	}
	return w.driver.Clean(ctx, signs)
}

// await returns the signs once none has changed for long enough; at once if there is none.
func (w *signWatch) await(ctx context.Context) (signs map[string]int64, err error) {
	began := Now()
	since := began
	for first := true; ; first = false {
		asked := Now()
		now, err := w.driver.Signs(ctx)
		if err != nil || len(now) == 0 {
			return now, err
		}
		switch moved := changed(signs, now); {
		case first:
			since = Now()
		case moved != "" && Now().Sub(began) >= w.podTimeout:
			return nil, ErrStillWrites(moved)
		case moved != "":
			since = Now()
		case asked.Sub(since) >= w.still:
			return now, nil
		}
		signs = now
		if !waitFor(ctx, Now().Add(w.look), nil) {
			return nil, ctx.Err()
		}
	}
}

// changed returns a key whose sign has changed; empty if there is none. A pod that has released its key has no sign.
func changed(before, now map[string]int64) string {
	for key, version := range now {
		if before[key] != version {
			return key
		}
	}
	return ""
}

// ErrStillWrites is the error of a cleanup that found a new sign of life at a key.
func ErrStillWrites(key string) *Error {
	return Errorf(results.FailurePodStillWrites,
		"a client pod of the run still changes its key %q, so it may still write, and nothing was deleted", key)
}

// StillWrites reports whether an error is ErrStillWrites.
func StillWrites(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Reason == results.FailurePodStillWrites
}
