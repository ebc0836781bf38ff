package main

import (
	"net"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The ports that Kubernetes and etcd use by default, and some others, are taken. All are chosen, and no other program
// listens on one of them at any address.
func TestTheClusterStartsOnPortsThatAreFree(t *testing.T) {
	for _, address := range []string{":6443", ":10250", ":10256", "127.0.0.1:2379", "127.0.0.1:23790", "127.0.0.1:23840"} {
		if listener, err := net.Listen("tcp", address); err == nil { // otherwise another program takes it, which is as good
			defer listener.Close()
		}
	}
	chosen, err := freePorts()
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range values(chosen) {
		listener, err := net.Listen("tcp", ":"+port)
		if err != nil {
			t.Errorf("a daemon cannot listen on the chosen port %q: %v", port, err)
			continue
		}
		defer listener.Close() // so a port that was chosen twice fails
	}
}

// A port that is written down anywhere else could be taken.
func TestDaemonsListenOnlyOnChosenPorts(t *testing.T) {
	l := layout{checkout: "/checkout", ports: ports{
		apiServer: "11", kubelet: "12", etcdClient: "13", etcdPeer: "14", etcdMetrics: "15",
		controllerManager: "16", scheduler: "17", kubeletHealth: "18", proxyHealth: "19", proxyMetrics: "20",
	}}
	var text []string
	for _, d := range []daemon{
		etcdDaemon(l), containerdDaemon(l), apiServerDaemon(l), controllerManagerDaemon(l), schedulerDaemon(l), kubeletDaemon(l), proxyDaemon(l),
	} {
		text = append(text, d.args...)
	}
	for _, file := range nodeFiles(l) {
		if file.template == "registries.toml" { // names a port on which nothing should listen
			continue
		}
		content, err := render(file.template, file.values)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, string(content))
	}
	port := regexp.MustCompile(`(?i:port(?:=|: )|127\.0\.0\.1:|` + regexp.QuoteMeta(nodeAddress) + `:)(\w*)`)
	var used []string
	for _, match := range port.FindAllStringSubmatch(strings.Join(text, "\n"), -1) {
		used = append(used, match[1])
	}
	slices.Sort(used)
	if used, want := slices.Compact(used), values(l.ports); !slices.Equal(used, want) {
		t.Errorf("the daemons use the ports %v, want those that were chosen: %v", used, want)
	}
}

func values(p ports) []string {
	var all []string
	for i := range reflect.TypeFor[ports]().NumField() {
		all = append(all, reflect.ValueOf(p).Field(i).String())
	}
	return slices.Sorted(slices.Values(all))
}
