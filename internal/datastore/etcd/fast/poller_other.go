//go:build !linux

package fast

func newPoller() (poller, error) { return newPortablePoller(), nil }
