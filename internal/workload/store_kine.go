package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// checkKine accepts the load of API servers: kine serves no other requests.
func checkKine(r *Run) []error {
	return []error{Wanted(r.Workload.Type == spec.WorkloadKubernetes, "workload.type", "Kubernetes for Kine", r.Workload.Type)}
}

// removeFromKine deletes key by key, because kine deletes no ranges. It deletes a key only at the mod revision at which it
// was listed, and the marker last.
func removeFromKine(r *Run, o Owner) string {
	keys := fmt.Sprintf(`etcdctl get --prefix %s --keys-only -w fields | awk '/^"Key"/{k=$3} /^"ModRevision"/{print k, $3}' | LC_ALL=C sort -r`, text.Quoted(r.Prefix)) +
		` | while read -r k r; do printf 'mod(%s) = "%s"\n\ndel %s\n\nget %s\n\n' "$k" "$r" "$k" "$k" | etcdctl txn; done`
	if o.Alone {
		return keys
	}
	return fmt.Sprintf("etcdctl get %s --print-value-only | grep -q '^%s' && ", text.Quoted(r.Prefix+".owner"), o.UID) + keys
}
