//go:build !linux

package eventloop

func newPoller() (poller, error) { return newPortablePoller(), nil }
