package benchmark

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// A prefix that somebody chose may hold other keys by the time a person types
// the command: the marker decides. Both forms were read by a shell and etcdctl.
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
