package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDownWaitsForWhatTheKernelStillHolds(t *testing.T) {
	attempts := 0
	err := untilGone(t.Context(), time.Minute, func(context.Context) ([]string, error) {
		if attempts++; attempts < 3 {
			return []string{"mount /run/x"}, errors.New("still mounted")
		}
		return nil, nil
	})
	if err != nil || attempts != 3 {
		t.Errorf("wanted success at the third attempt, got %v after %d", err, attempts)
	}
}

func TestDownNamesWhatIsLeft(t *testing.T) {
	err := untilGone(t.Context(), time.Nanosecond, func(ctx context.Context) ([]string, error) {
		// A look that the time limit cuts off could not name anything.
		if ctx.Err() != nil {
			return []string{"unknown: " + ctx.Err().Error()}, nil
		}
		return []string{"mount /run/x"}, errors.New("still mounted")
	})
	if err == nil || !strings.Contains(err.Error(), "mount /run/x") || !strings.Contains(err.Error(), "still mounted") {
		t.Errorf("wanted what is left and why, got %v", err)
	}
}

// down follows an installation that was killed before nft and ip were there.
func TestDownNeedsNoProgramThatChangedNothing(t *testing.T) {
	t.Setenv("PATH", "")
	if err := disconnectNode(t.Context()); err != nil {
		t.Errorf("disconnecting: %v", err)
	}
	if left := networkLeftovers(t.Context()); len(left) > 0 {
		t.Errorf("wanted nothing left, got %q", left)
	}
}

func TestOnlyOurServicePolicyIsRemoved(t *testing.T) {
	for name, tc := range map[string]struct {
		before string
		stays  bool
	}{
		"none before":  {},
		"another's":    {before: "#!/bin/sh\nexit 101\n", stays: true},
		"left by kill": {before: servicePolicy},
	} {
		t.Run(name, func(t *testing.T) {
			policy := filepath.Join(t.TempDir(), "policy-rc.d")
			if tc.before != "" {
				if err := os.WriteFile(policy, []byte(tc.before), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := forbidServiceStarts(policy); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(policy); err != nil {
				t.Errorf("wanted a policy while packages are installed: %v", err)
			}
			if err := allowServiceStarts(policy); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(policy); (err == nil) != tc.stays {
				t.Errorf("wanted the policy to stay: %v, got %v", tc.stays, err)
			}
		})
	}
}
