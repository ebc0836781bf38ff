package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkNetworkFree fails if another program uses the address range or kube-proxy's tables: down would remove that
// program's entries.
func checkNetworkFree(ctx context.Context) error {
	routes, err := benchmarkRoutes(ctx)
	if err != nil {
		return err
	}
	if len(routes) > 0 {
		return fmt.Errorf("%s is already in use on this host: remove these routes first:\n  %s", benchmarkRange, strings.Join(routes, "\n  "))
	}
	tables, err := proxyTables(ctx)
	if err != nil {
		return err
	}
	if len(tables) > 0 {
		return fmt.Errorf("another kube-proxy runs on this host, nftables already has %s: stop it and remove these tables first", strings.Join(tables, ", "))
	}
	return nil
}

// connectNode gives the node its address and keeps every packet of the cluster on this host. The more specific routes
// to running pods win over the blackhole, which drops packets to pods that are gone.
func connectNode(ctx context.Context) error {
	commands := []string{
		"ip address add " + nodeAddress + "/32 dev lo",
		"ip route add blackhole " + benchmarkRange,
		// Routing comes before kube-proxy's DNAT: without its own route, a packet from the host to a Service would end
		// in the blackhole.
		"ip route add " + serviceRange + " dev lo",
	}
	for _, command := range commands {
		fields := strings.Fields(command)
		if _, err := run(ctx, fields[0], fields[1:]...); err != nil {
			return err
		}
	}
	return os.WriteFile(sysctlPath("net/ipv4/ip_forward"), []byte("1"), 0o644)
}

// disconnectNode undoes connectNode and removes kube-proxy's tables. It succeeds if they do not exist.
func disconnectNode(ctx context.Context) error {
	tables, err := proxyTables(ctx)
	if err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := run(ctx, "nft", append([]string{"delete"}, strings.Fields(table)...)...); err != nil {
			return err
		}
	}
	if _, err := ifInstalled(run(ctx, "ip", "route", "flush", "root", benchmarkRange)); err != nil {
		return err
	}
	addresses, err := ifInstalled(run(ctx, "ip", "-o", "address", "show", "dev", "lo", "to", nodeAddress))
	if err != nil || addresses == "" {
		return err
	}
	_, err = run(ctx, "ip", "address", "delete", nodeAddress+"/32", "dev", "lo")
	return err
}

// benchmarkRoutes returns the routes of the main table inside the benchmark range.
func benchmarkRoutes(ctx context.Context) ([]string, error) {
	output, err := ifInstalled(run(ctx, "ip", "-o", "route", "show", "root", benchmarkRange))
	return nonEmptyLines(output), err
}

// proxyTables returns the nftables tables of kube-proxy as "table FAMILY NAME".
func proxyTables(ctx context.Context) ([]string, error) {
	output, err := ifInstalled(run(ctx, "nft", "list", "tables"))
	var tables []string
	for _, line := range nonEmptyLines(output) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[2] == "kube-proxy" {
			tables = append(tables, line)
		}
	}
	return tables, err
}

func nonEmptyLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// changedSysctls lists the kernel settings that the cluster changes: ip_forward by this program, the rest by the
// kubelet.
var changedSysctls = []string{
	"net/ipv4/ip_forward",
	"kernel/keys/root_maxbytes",
	"kernel/keys/root_maxkeys",
	"kernel/panic",
	"kernel/panic_on_oops",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
}

func sysctlPath(name string) string { return filepath.Join("/proc/sys", name) }

// readSysctls returns the current values of the settings that the cluster changes.
func readSysctls() (map[string]string, error) {
	values := map[string]string{}
	for _, name := range changedSysctls {
		value, err := os.ReadFile(sysctlPath(name))
		if err != nil {
			return nil, err
		}
		values[name] = strings.TrimSpace(string(value))
	}
	return values, nil
}

// restoreSysctls writes back the values that differ.
func restoreSysctls(values map[string]string) error {
	for name, want := range values {
		got, err := os.ReadFile(sysctlPath(name))
		if err == nil && strings.TrimSpace(string(got)) == want {
			continue
		}
		if err := os.WriteFile(sysctlPath(name), []byte(want), 0o644); err != nil {
			return fmt.Errorf("restoring %s to %s: %w", name, want, err)
		}
	}
	return nil
}
