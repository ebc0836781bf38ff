//go:build !linux

package wire

func newPoller() (poller, error) { return newPortablePoller(), nil }
