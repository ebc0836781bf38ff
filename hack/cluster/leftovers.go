package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"time"
)

// leftovers lists everything of the cluster that is still on the host, save the journal and the logs.
func leftovers(ctx context.Context, l layout) []string {
	var left []string
	for _, p := range slices.Concat(marked(l.checkout), contained()) {
		left = append(left, fmt.Sprintf("process %d (%s)", p.PID, p.Name))
	}
	for _, dir := range clusterCgroups() {
		left = append(left, "cgroup "+dir)
	}
	left = append(left, networkLeftovers(ctx)...)
	if forbidsServiceStarts(servicePolicyFile) {
		left = append(left, "file "+servicePolicyFile)
	}
	points, err := mountsBelow(runDir, libDir, l.path())
	left = append(left, named("mount ", points, err)...)
	if _, err := os.Stat(libDir); err == nil {
		left = append(left, "folder "+libDir)
	}
	return left
}

func networkLeftovers(ctx context.Context) []string {
	routes, err := benchmarkRoutes(ctx)
	left := named("route ", routes, err)
	addresses, err := ifInstalled(run(ctx, "ip", "-o", "address", "show", "to", benchmarkRange))
	left = append(left, named("address ", nonEmptyLines(addresses), err)...)
	tables, err := proxyTables(ctx)
	return append(left, named("nftables ", tables, err)...)
}

// named prefixes things for the report; a failure to look is reported too.
func named(prefix string, things []string, err error) []string {
	var result []string
	for _, thing := range things {
		result = append(result, prefix+thing)
	}
	if err != nil {
		result = append(result, prefix+"unknown: "+err.Error())
	}
	return result
}

// isListenedOn tells whether a process accepts connections on a unix socket.
func isListenedOn(path string) bool {
	connection, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return false
	}
	connection.Close()
	return true
}
