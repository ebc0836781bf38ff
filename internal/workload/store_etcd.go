package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

func removeFromEtcd(r *Run, o Owner) string {
	keys := "etcdctl del --prefix " + text.Quoted(r.Prefix)
	if !o.Alone {
		keys = fmt.Sprintf(`printf '%%s\n' %s '' %s '' '' | etcdctl txn`,
			text.Quoted(fmt.Sprintf("value(%q) = %q", r.Prefix+".owner", o.UID)),
			text.Quoted(fmt.Sprintf("del --prefix %q", r.Prefix)))
	}
	if !r.UsesLeases() {
		return keys
	}
	return fmt.Sprintf("%s; etcdctl lease list | grep '^%010x' | xargs -r -n 1 etcdctl lease revoke", keys, r.FirstLease/LeaseIDs)
}
