package load

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Missing says what is wrong with a request that etcd has carried out on this
// many keys, as the detail of a failure with CodeNotFound; it is empty if
// nothing is wrong. Every key that is read or deleted was written before: to
// find none is cheaper than to find it, and must not pass for it.
func (r *Request) Missing(found int64) string {
	wanted := max(1, r.Keys)
	switch {
	case r.Operation == results.OperationDelete && found == 0:
		return "the key is not there to be deleted"
	case r.Operation != results.OperationRange && r.Operation != results.OperationCompareAndSwap || found >= wanted:
		return ""
	case wanted == 1:
		return "the key is not there (a member that lags behind may not have it yet)"
	default:
		return fmt.Sprintf("%s of %s keys are not there (a member that lags behind may not have them yet)", results.Grouped(wanted-found), results.Grouped(wanted))
	}
}
