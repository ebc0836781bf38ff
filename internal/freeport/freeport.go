// Package freeport finds free ports of this host.
package freeport

import "net"

// Addresses gets n addresses of the loopback interface from the kernel, such as "127.0.0.1:40291", all different.
// Another process may take a port before the caller listens on it; then the caller needs other addresses.
func Addresses(n int) ([]string, error) {
	addresses := make([]string, n)
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		addresses[i] = listener.Addr().String()
	}
	return addresses, nil
}
