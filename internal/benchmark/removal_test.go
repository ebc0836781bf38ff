package benchmark

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// A prefix from the spec may hold other keys when the command runs, so the command checks the owner's marker. Both
// forms were tried with a shell and etcdctl.
func TestRemovalCommand(t *testing.T) {
	tests := map[string]struct{ prefix, want string }{
		"the run's own": {"", `etcdctl del --prefix 'etcdbench/01234567/'`},
		"chosen": {
			`it's "x"/`,
			`printf '%s\n' 'value("it'\''s \"x\"/.owner") = "0123456789"' '' 'del --prefix "it'\''s \"x\"/"' '' '' | etcdctl txn`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := &v1alpha1.EtcdBenchmark{}
			run.UID, run.Spec.Target = "0123456789", v1alpha1.Target{Datastore: spec.Etcd, KeyPrefix: tc.prefix}
			if got := RemovalCommand(run); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
