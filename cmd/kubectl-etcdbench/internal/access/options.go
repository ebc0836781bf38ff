package access

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/refused"
)

// The flags of etcdctl that have an effect.
const (
	endpoints         = "endpoints"
	discoverySRV      = "discovery-srv"
	discoverySRVName  = "discovery-srv-name"
	insecureDiscovery = "insecure-discovery"
	caCert            = "cacert"
	cert              = "cert"
	key               = "key"
	user              = "user"
	password          = "password"
)

// without are the flags of etcdctl that have no effect here. As flags they are refused, as variables the user is told.
var without = []refused.Flag{
	{Name: "insecure-skip-tls-verify", Switch: true, Harmless: "false", Advice: "the certificates of the members are always checked: remove it, and give their CA with --cacert. If a " +
		"certificate does not cover the address, add --tls-server-name"},
	{Name: "insecure-transport", Switch: true, Harmless: "true", Advice: "TLS is used if the CA of the members is given: add --cacert, and remove it"},
	{Name: "auth-jwt-token", Advice: "the run gets tokens of its own: log in with --user and --password"},
	{Name: "command-timeout", Advice: "a request may take 10 s by default: remove it"},
	{Name: "dial-timeout", Advice: "opening a connection may take 10 s: remove it"},
	{Name: "keepalive-time", Advice: "the run finds dead connections by itself: remove it"},
	{Name: "keepalive-timeout", Advice: "the run finds dead connections by itself: remove it"},
	{Name: "max-request-bytes", Advice: "how large a message may be follows from the run: remove it"},
	{Name: "max-recv-bytes", Advice: "how large a message may be follows from the run: remove it"},
	{Name: "write-out", Shorthand: "w", Advice: "the output is not that of etcdctl: remove it"},
	{Name: "hex", Switch: true, Harmless: "false", Advice: "the output has no keys and values: remove it"},
	{Name: "debug", Switch: true, Harmless: "false", Advice: "the client writes no log: remove it"},
}

// Without are the flags of etcdctl that are refused.
func Without() []refused.Flag { return slices.Clone(without) }

// variableOf is the name of a flag's variable.
func variableOf(flag string) string {
	return "ETCDCTL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Ignored has a sentence for each variable of etcdctl that is set and has no effect.
func Ignored() (notices []string) {
	for _, f := range without {
		variable := variableOf(f.Name)
		if value := os.Getenv(variable); value != "" && value != f.Harmless {
			advice, _ := strings.CutSuffix(f.Advice, ": remove it")
			notices = append(notices, fmt.Sprintf("%s has no effect: %s.", variable, advice))
		}
	}
	return notices
}
