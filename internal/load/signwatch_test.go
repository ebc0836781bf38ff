package load

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// The cleanup deletes nothing before the signs of life have stood still long enough for the pod's last request.
func TestTheCleanupWaitsForSignsToStandStill(t *testing.T) {
	const timeout = 5 * time.Second
	tests := map[string]struct {
		// signs at an instant after the begin of the cleanup.
		signs      func(after time.Duration) map[string]int64
		podTimeout time.Duration
		// cleanedAfter is when the keys are deleted; 0 if they are not, because a pod still writes.
		cleanedAfter time.Duration
	}{
		"no pod is registered": {func(time.Duration) map[string]int64 { return nil }, 0, 1},
		"they stand still":     {func(time.Duration) map[string]int64 { return map[string]int64{"a": 1, "b": 2} }, 0, 65 * time.Second},
		"one moves": {func(after time.Duration) map[string]int64 {
			return map[string]int64{"a": 1, "b": int64(after / (20 * time.Second))}
		}, 0, 0},
		"one joins": {func(after time.Duration) map[string]int64 {
			if after < 10*time.Second {
				return map[string]int64{"a": 1}
			}
			return map[string]int64{"a": 1, "b": 1}
		}, 0, 0},
		"one is released": {func(after time.Duration) map[string]int64 {
			if after < 50*time.Second {
				return map[string]int64{"a": 1, "b": int64(after / (90 * time.Second))}
			}
			return map[string]int64{"a": 1}
		}, 0, 65 * time.Second},
		"one moves for two minutes": {func(after time.Duration) map[string]int64 {
			return map[string]int64{"a": int64(min(after, 2*time.Minute) / (20 * time.Second))}
		}, time.Hour, 185 * time.Second},
		"one moves for longer than the limit": {func(after time.Duration) map[string]int64 {
			return map[string]int64{"a": int64(after / (20 * time.Second))}
		}, 10 * time.Minute, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := origin
			defer func() { origin = before }()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				origin = began
				d := &fakeDriver{signs: func() map[string]int64 { return tc.signs(time.Since(began)) }}
				err := newSignWatch(d, timeout, tc.podTimeout).clean(t.Context())
				took := time.Since(began)
				if cleaned := slices.Contains(d.steps, "clean"); cleaned != (tc.cleanedAfter > 0) || StillWrites(err) == cleaned || !cleaned && err == nil {
					t.Fatalf("cleaned: %t, with the error %v", cleaned, err)
				}
				if tc.cleanedAfter > 0 && (took < tc.cleanedAfter-time.Second || took > tc.cleanedAfter+2*lookAtSigns) {
					t.Errorf("the keys were deleted after %v, wanted %v", took, tc.cleanedAfter)
				}
				if tc.cleanedAfter == 0 && took > tc.podTimeout+25*time.Second {
					t.Errorf("the cleanup gave up after %v", took)
				}
			})
		})
	}
}

// A cleanup that finds a live pod leaves the lock to expire; otherwise another run could begin beside that pod.
func TestTheLockIsNotFreedWhileAPodWrites(t *testing.T) {
	for name, moves := range map[string]bool{"a pod writes": true, "no pod writes": false} {
		t.Run(name, func(t *testing.T) {
			before := origin
			defer func() { origin = before }()
			synctest.Test(t, func(t *testing.T) {
				origin = time.Now()
				began := time.Now()
				d := lockingDriver{run: "uid", lock: &fakeLock{}, fakeDriver: &fakeDriver{signs: func() map[string]int64 {
					if !moves {
						return nil
					}
					return map[string]int64{"a": int64(time.Since(began))}
				}}}
				if err := Clean(t.Context(), planOf(awaitingLock), d, 0); StillWrites(err) != moves {
					t.Fatal(err)
				}
				if holder := d.lock.heldBy(); (holder != "") != moves {
					t.Errorf("the lock is held by %q", holder)
				}
			})
		})
	}
}
