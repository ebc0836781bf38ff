package access

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Problem says what is wrong with an address, and what to write instead. It is empty for host:port with an optional
// http:// or https:// in front and / at the end. It does not repeat a password.
func Problem(endpoint string) string {
	why := problem(endpoint)
	if why == "" {
		return ""
	}
	if at := strings.LastIndexByte(endpoint, '@'); at >= 0 {
		endpoint = "…" + endpoint[at:]
	}
	return fmt.Sprintf("found %.200q: %s", endpoint, why)
}

func problem(endpoint string) string {
	scheme, address, hasScheme := strings.Cut(endpoint, "://")
	if !hasScheme {
		scheme, address = "", endpoint
	}
	if why := schemeProblem(scheme, endpoint); why != "" {
		return why
	}
	if before, after, found := strings.Cut(address, "@"); found && !strings.Contains(before, "/") {
		return fmt.Sprintf("an address has no user: write %s, and give the user separately (spec.target.auth)", withScheme(scheme, after))
	}
	host, path, _ := strings.Cut(address, "/")
	switch i := strings.IndexAny(host, "?#"); {
	case path != "" || i >= 0:
		if i >= 0 {
			host = host[:i]
		}
		return fmt.Sprintf("an address has no path, as ZooKeeper's chroot: write %s. The run's keys lie under spec.target.keyPrefix", withScheme(scheme, host))
	}
	return hostProblem(host)
}

func withScheme(scheme, rest string) string {
	if scheme == "" {
		return rest
	}
	return scheme + "://" + rest
}

func schemeProblem(scheme, endpoint string) string {
	switch lower := strings.ToLower(scheme); {
	case strings.TrimSpace(endpoint) == "":
		return "found an empty address: remove the extra comma, or write host:port"
	case strings.ContainsAny(endpoint, " \t\n;"):
		return "separate the addresses by commas, without spaces"
	case lower == "unix" || lower == "unixs" || strings.HasPrefix(endpoint, "unix:") || strings.HasPrefix(endpoint, "unixs:"):
		return "Unix sockets are not supported: let the server listen on a TCP port, too, and give its host:port"
	case scheme == "" || scheme == "http" || scheme == "https":
		return ""
	case lower == "http" || lower == "https":
		return fmt.Sprintf("write the scheme in lower case: %s://", lower)
	}
	return fmt.Sprintf("the scheme %.20q is not supported: write host:port, or http:// or https:// before it", scheme+"://")
}

// hostProblem says what is wrong with host:port.
func hostProblem(host string) string {
	const example = 2379
	if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && address.Is6() {
		if shorter, port, ok := lastPart(host); ok {
			return fmt.Sprintf("write an IPv6 address in brackets: [%s]:%s, or [%s]:%d if it has no port yet", shorter, port, host, example)
		}
		return fmt.Sprintf("write an IPv6 address in brackets, and add the port: [%s]:%d", address, example)
	}
	name, port, found := cutPort(host)
	switch number, err := strconv.Atoi(port); {
	case !found || port == "":
		return fmt.Sprintf("add the port, for example %s:%d", strings.TrimSuffix(host, ":"), example)
	case name == "":
		return fmt.Sprintf("add the host before the port, for example 127.0.0.1:%s", port)
	case err != nil:
		return fmt.Sprintf("wanted the number of a port after the last colon, found %.20q", port)
	case number < 1 || number > 65535:
		return fmt.Sprintf("wanted a port from 1 to 65535, found %d", number)
	case strings.Contains(name, ":") && !strings.HasPrefix(name, "["):
		return fmt.Sprintf("write an IPv6 address in brackets: [%s]:%s", name, port)
	}
	return ""
}

// lastPart splits an IPv6 address without brackets whose last part may be a port.
func lastPart(host string) (shorter, port string, ok bool) {
	shorter, port, found := cutPort(host)
	address, err := netip.ParseAddr(shorter)
	_, notNumber := strconv.Atoi(port)
	return shorter, port, found && err == nil && address.Is6() && notNumber == nil && len(port) == 4 && !strings.HasPrefix(host, "[")
}

// cutPort splits at the last colon outside of brackets.
func cutPort(host string) (name, port string, found bool) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.Contains(host[i:], "]") {
		return host, "", false
	}
	return host[:i], host[i+1:], true
}
