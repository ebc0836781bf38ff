// Package freeport finds ports of this host on which nobody listens.
package freeport

import "net"

// Addresses asks the kernel for n addresses of the loopback interface, such as
// "127.0.0.1:40291": all at once, so that they differ. Somebody else may take one
// before the caller listens there, who then needs others.
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
