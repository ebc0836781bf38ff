package freeport

import (
	"net"
	"testing"
)

// All addresses of one call can be used together.
func TestAddressesCanBeListenedOnTogether(t *testing.T) {
	addresses, err := Addresses(20)
	if err != nil || len(addresses) != 20 {
		t.Fatalf("wanted 20 addresses, found %v, %v", addresses, err)
	}
	for _, address := range addresses {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
	}
}
