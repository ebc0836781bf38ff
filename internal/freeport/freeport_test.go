package freeport

import (
	"net"
	"slices"
	"strings"
	"testing"
)

// All addresses of one call can be used together.
func TestAddressesCanBeListenedOnTogether(t *testing.T) {
	for _, address := range found(t, 20) {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
	}
}

// Another caller, or another process, that looks at the same ports does not get them, although no program listens on them yet.
func TestAddressesAreTakenOnce(t *testing.T) {
	first := found(t, 1)[0]
	if mark, err := take(first); err == nil {
		_ = mark.Close()
		t.Errorf("%s can be taken twice", first)
	}
}

func TestAnAddressInUseIsNotTaken(t *testing.T) {
	listener, err := net.Listen("tcp", found(t, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	// Its mark is gone, as if a program without this package listened.
	for _, mark := range marks {
		if mark.LocalAddr().String() == listener.Addr().String() {
			_ = mark.Close()
		}
	}
	if mark, err := take(listener.Addr().String()); err == nil {
		_ = mark.Close()
		t.Errorf("%s is in use and can be taken", listener.Addr())
	}
}

func TestUDPIsLeftToAProgram(t *testing.T) {
	address := found(t, 1)[0]
	LeaveUDP(address)
	listener, err := net.ListenPacket("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
}

// A failure keeps no port.
func TestTooFewPortsAreFree(t *testing.T) {
	before := len(marks)
	if addresses, err := between(3, highest-1, highest); err == nil || !strings.Contains(err.Error(), "wanted 3 free ports") || len(marks) != before {
		t.Errorf("found %v, %v and %d ports kept", addresses, err, len(marks)-before)
	}
}

func found(t *testing.T, n int) []string {
	t.Helper()
	addresses, err := Addresses(n)
	if err != nil || len(addresses) != n || len(slices.Compact(slices.Sorted(slices.Values(addresses)))) != n {
		t.Fatalf("wanted %d different addresses, found %v, %v", n, addresses, err)
	}
	return addresses
}
