package workload

import (
	"fmt"
	"strings"
)

func removeFromEtcd(r *Run, o Owner) string {
	keys := "etcdctl del --prefix " + shellQuoted(r.Prefix)
	if !o.Alone {
		keys = fmt.Sprintf(`printf '%%s\n' %s '' %s '' '' | etcdctl txn`,
			shellQuoted(fmt.Sprintf("value(%q) = %q", r.Prefix+".owner", o.UID)),
			shellQuoted(fmt.Sprintf("del --prefix %q", r.Prefix)))
	}
	if !r.UsesLeases() {
		return keys
	}
	return fmt.Sprintf("%s; etcdctl lease list | grep '^%010x' | xargs -r -n 1 etcdctl lease revoke", keys, r.FirstLease/LeaseIDs)
}

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
