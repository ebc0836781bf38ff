package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/access"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/refused"
)

// otherTools explains a flag of etcdctl or of etcd's benchmark tool that a command lacks; empty for other errors.
func otherTools(cmd *cobra.Command, err error) string {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return ""
	}
	name := unknown.GetSpecifiedName()
	for _, f := range append(access.Without(), ofCheckPerf...) {
		if f.Name == name || unknown.GetSpecifiedShortnames() != "" && f.Shorthand == name {
			return "it is a flag of etcdctl: " + f.Advice
		}
	}
	for _, words := range [][]string{{"run"}, {"check"}, {"bench", "put"}, {"bench", "range"}, {"bench", "txn-mixed"}, {"bench", "stm"}, {"bench", "lease-keepalive"}, {"bench", "watch"}, {"bench", "watch-latency"}} {
		other, _, err := cmd.Root().Find(words)
		if err == nil && other != cmd && other.Flags().Lookup(name) != nil && !refused.Is(other.Flags().Lookup(name)) {
			return fmt.Sprintf("it is a flag of %s", other.CommandPath())
		}
	}
	return ""
}
