package process

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Listener returns the process of this network namespace that listens for TCP connections to an address of this machine. Other
// users' processes show only to root.
func Listener(at netip.AddrPort) (Other, error) { return listener("", at) }

func listener(root string, at netip.AddrPort) (Other, error) {
	sockets, err := listening(root, at)
	if err != nil {
		return Other{}, err
	}
	if len(sockets) == 0 {
		return Other{}, fmt.Errorf("no process of this machine listens at %s", at)
	}
	links, _ := filepath.Glob(filepath.Join(root, "/proc", "[0-9]*", "fd", "*"))
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !sockets[target] {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(link))))
		return Other{PID: pid, root: root}, err
	}
	return Other{}, fmt.Errorf("the process that listens at %s cannot be seen", at)
}

// listening are the sockets that accept connections to an address, as links to them read. A socket of exactly this address comes
// before those of all addresses (proc_pid_net(5)).
func listening(root string, at netip.AddrPort) (map[string]bool, error) {
	own, all := map[string]bool{}, map[string]bool{}
	var failed error
	for _, file := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(root, "/proc", "self", "net", file))
		if err != nil {
			// A kernel without IPv6 has no tcp6.
			failed = firstOf(failed, err)
			continue
		}
		for local, socket := range listeners(string(text)) {
			switch {
			case local.Port() != at.Port():
			case local.Addr() == at.Addr():
				own[socket] = true
			case local.Addr().IsUnspecified():
				all[socket] = true
			}
		}
	}
	switch {
	case len(own) > 0:
		return own, nil
	case len(all) > 0:
		return all, nil
	}
	return nil, failed
}

// listeners are the listening sockets of /proc/net/tcp or tcp6, with their addresses.
func listeners(text string) iter.Seq2[netip.AddrPort, string] {
	const local, state, inode = 1, 3, 9
	const isListening = "0A"
	return func(yield func(netip.AddrPort, string) bool) {
		for line := range strings.Lines(text) {
			fields := strings.Fields(line)
			if len(fields) <= inode || fields[state] != isListening {
				continue
			}
			address, ok := parseAddress(fields[local])
			if ok && !yield(address, "socket:["+fields[inode]+"]") {
				return
			}
		}
	}
}

// parseAddress reads an address of /proc/net/tcp: words of 32 bits in the machine's order of bytes, and the port.
func parseAddress(text string) (netip.AddrPort, bool) {
	words, port, _ := strings.Cut(text, ":")
	bytes, err := hex.DecodeString(words)
	if err != nil || len(bytes)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for word := bytes; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	address, isAddress := netip.AddrFromSlice(bytes)
	number, err := strconv.ParseUint(port, 16, 16)
	return netip.AddrPortFrom(address.Unmap(), uint16(number)), isAddress && err == nil
}
