package etcd

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
)

// A control request is tried this often, with a growing pause between the
// tries, 5 s in all: an election, a rolling restart or a DNS entry that is a
// second late must not end a run. Each attempt is counted, and each such
// request may be repeated without harm. No attempt begins after repeatLimit,
// so that what is wrong is known within half a minute.
const (
	controlAttempts = 5
	controlPause    = 500 * time.Millisecond
	repeatLimit     = 15 * time.Second
)

// repeat tries until it succeeds or the reason is not one that passes.
func repeat(ctx context.Context, try func(context.Context) error) error {
	began := time.Now()
	for attempt := 1; ; attempt++ {
		bounded, cancel := context.WithTimeout(ctx, controlTimeout)
		err := try(bounded)
		cancel()
		if err == nil || !passes(err) || attempt == controlAttempts || time.Since(began) > repeatLimit {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(attempt) * controlPause):
		}
	}
}

// passes says whether an error may be gone a moment later.
func passes(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, errNoLeader) {
		return true
	}
	// Unauthenticated: a token is known to one member before the others.
	code := codeOf(err)
	return code == codes.Unavailable || code == codes.Unauthenticated
}
