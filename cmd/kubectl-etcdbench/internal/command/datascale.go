package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const datascaleExample = `  # How much memory do 10,000 keys need?
  kubectl etcdbench check datascale --endpoints 10.0.0.1:2379

  # 100,000 keys, as etcdctl takes the number
  kubectl etcdbench check datascale --endpoints 10.0.0.1:2379 --load m

  # A million keys, on a member that the command starts
  kubectl etcdbench check datascale --members 1 --load l`

const datascaleHelp = `Does what "etcdctl check datascale" does: it puts keys of 512 bytes with values of 512 bytes as
fast as the clients can, and says by how much the memory of each member grew. Nothing is
judged. The keys are deleted at the end.

  s    10,000 keys by 50 clients
  m    100,000 keys by 200 clients
  l    1,000,000 keys by 500 clients
  xl   3,000,000 keys by 1,000 clients; needs a quota above 3 GB`

// scale is a size of check datascale.
type scale struct{ keys, clients int64 }

// scales are the sizes by etcdctl's names.
var scales = map[string]scale{"s": {10_000, 50}, "m": {100_000, 200}, "l": {1_000_000, 500}, "xl": {3_000_000, 1_000}}

// load writes as many keys as there are requests.
func (s scale) load() string {
	return fmt.Sprintf(`timeoutSeconds: 86400
  workload: {type: Put, put: {keys: {count: %d, sizeBytes: 512, distribution: Sequential}, values: {sizeBytes: 512}}}
  load: {requests: %[1]d, clients: %d, connections: %[2]d}`, s.keys, s.clients)
}

func (t *tool) datascaleCommand() *cobra.Command {
	f := &checkFlags{}
	f.local, f.answer = true, growthOf
	cmd := &cobra.Command{
		Use:     "datascale --endpoints HOST:PORT,...",
		Short:   "Say how much memory the members need for many keys",
		Long:    datascaleHelp,
		Example: datascaleExample,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			err := t.check(f)
			return f.adviceOf().Error(err)
		},
	}
	cmd.Flags().StringVar(&f.scale, "load", "s", "how many keys: s, m, l or xl")
	f.addTarget(cmd.Flags())
	return cmd
}

// growthOf says by how much the memory of each member grew.
func growthOf(run *v1alpha1.EtcdBenchmark) string {
	measured := checked(run)
	if measured == nil {
		return "The check ended early. " + endingOf(run)
	}
	out := fmt.Sprintf("Put %s keys in %s, p99 %s.", text.Grouped(measured.Succeeded),
		text.Micros(run.Status.Summary.DurationMicroseconds), text.Micros(measured.Latency.P99Microseconds))
	var grown []string
	for _, m := range run.Status.Summary.Members {
		if m.MemoryStartBytes != nil && m.MemoryBytes != nil {
			grown = append(grown, fmt.Sprintf("%s by %s (from %s to at most %s)", cmp.Or(m.Name, m.ID),
				text.Megabytes(*m.MemoryBytes-*m.MemoryStartBytes), text.Megabytes(*m.MemoryStartBytes), text.Megabytes(*m.MemoryBytes)))
		}
	}
	if len(grown) == 0 {
		return out + " How much memory the members use is not known."
	}
	return out + " Memory grew: " + strings.Join(grown, ", ") + "."
}
