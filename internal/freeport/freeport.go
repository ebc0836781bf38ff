// Package freeport finds free ports of this host.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
)

// Kernels give the ports from 32768 on to connections, or those from a higher one on. A port of Addresses is below them, so
// no connection takes it before the caller listens on it.
const (
	lowest  = 10_000
	highest = 32_767
)

// marks are UDP sockets. The socket on a port shows other processes that the TCP port with the same number is in use.
var (
	mutex sync.Mutex
	marks []net.PacketConn
)

// Addresses finds n free TCP addresses of the loopback interface, such as "127.0.0.1:20291". As long as this process runs,
// Addresses returns none of them again, in this process or another one. A program that does not use Addresses can take them.
func Addresses(n int) ([]string, error) { return between(n, lowest, highest) }

func between(n, low, high int) ([]string, error) {
	mutex.Lock()
	defer mutex.Unlock()
	ports, addresses, taken := high-low+1, []string{}, []net.PacketConn{}
	var refused error
	for i, first := 0, rand.IntN(ports); i < ports && len(addresses) < n; i++ {
		address := fmt.Sprintf("127.0.0.1:%d", low+(first+i)%ports)
		if mark, err := take(address); err != nil {
			refused = err
		} else {
			addresses, taken = append(addresses, address), append(taken, mark)
		}
	}
	if len(addresses) == n {
		marks = append(marks, taken...)
		return addresses, nil
	}
	for _, mark := range taken {
		_ = mark.Close()
	}
	return nil, fmt.Errorf("wanted %d free ports of 127.0.0.1 between %d and %d, found %d; the last refusal: %w", n, low, high, len(addresses), refused)
}

// LeaveUDP leaves the UDP ports of these addresses, which Addresses has returned, to a program that listens on them, too.
// Until it does, Addresses can return them again.
func LeaveUDP(addresses ...string) {
	mutex.Lock()
	defer mutex.Unlock()
	marks = slices.DeleteFunc(marks, func(mark net.PacketConn) bool {
		return slices.Contains(addresses, mark.LocalAddr().String()) && mark.Close() == nil
	})
}

// take marks an address, unless a program listens on it.
func take(address string) (net.PacketConn, error) {
	mark, err := net.ListenPacket("udp4", address)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return nil, errors.Join(err, mark.Close())
	}
	return mark, listener.Close()
}
