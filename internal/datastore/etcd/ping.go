package etcd

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"golang.org/x/net/http2"
)

// Ping implements load.Pinger. It sends one ping of HTTP/2 on a new connection to each member, because etcd closes a
// connection that pings often.
func (d *Driver) Ping(ctx context.Context) map[string]time.Duration {
	creds, err := d.secrets()
	if err != nil {
		return nil
	}
	return ofEach(d.members(), func(m member) (time.Duration, bool) {
		c, err := open(ctx, m.endpoint, creds.tls)
		if err != nil {
			return 0, false
		}
		defer c.Close()
		took, err := pingOn(ctx, c)
		return took, err == nil
	})
}

const (
	// maxFrames is how many frames a server may send before the one that is awaited.
	maxFrames = 16
	// maxFrameBytes is the largest frame that HTTP/2 allows without an agreement.
	maxFrameBytes = 16 << 10
)

var errUnanswered = errors.New("the server did not answer within a few frames of HTTP/2")

// pingOn begins HTTP/2 and returns how long the server took to answer a ping. The ping is sent after the server has
// confirmed the client's settings, so accepting the connection is not included.
func pingOn(ctx context.Context, c net.Conn) (time.Duration, error) {
	// Reads and writes take no context; a deadline in the past ends them.
	interrupt := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer interrupt()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return 0, err
	}
	framer := http2.NewFramer(c, c)
	framer.SetMaxReadFrameSize(maxFrameBytes)
	if err := framer.WriteSettings(); err != nil {
		return 0, err
	}
	confirmed := func(f http2.Frame) bool {
		settings, ok := f.(*http2.SettingsFrame)
		return ok && settings.IsAck()
	}
	if err := awaitFrame(framer, confirmed); err != nil {
		return 0, err
	}
	sent := time.Now()
	if err := framer.WritePing(false, [8]byte{}); err != nil {
		return 0, err
	}
	answered := func(f http2.Frame) bool {
		ping, ok := f.(*http2.PingFrame)
		return ok && ping.IsAck()
	}
	err := awaitFrame(framer, answered)
	return time.Since(sent), err
}

func awaitFrame(framer *http2.Framer, isIt func(http2.Frame) bool) error {
	for range maxFrames {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err
		}
		if isIt(frame) {
			return nil
		}
	}
	return errUnanswered
}
