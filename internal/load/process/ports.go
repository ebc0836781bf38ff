package process

import (
	"fmt"
	"os"
)

// LocalPorts returns how many connections the process can open to one address, if its own address and port are chosen for it;
// false if that is not known.
func LocalPorts() (ports int, known bool) {
	data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	var from, to int
	_, err = fmt.Sscan(string(data), &from, &to)
	return to - from + 1, err == nil && from <= to
}
