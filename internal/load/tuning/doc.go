// Package tuning has this process ask the Go runtime and the kernel for what a load
// generator needs of them: rarer garbage collection, and processor time soon after
// waking up. It is for processes that hold no member of the target.
//
// It imports plan, x/sys and the standard library. Its one invariant: what somebody
// has set, or the machine forbids, stays as it is, without an error.
package tuning

import "github.com/etcdbench/etcd-benchmark-operator/internal/plan"

// Process tunes this process for its part of a plan.
func Process(p plan.Load) {
	relaxCollector(p.Transport)
	if p.OpenLoop() {
		askForShortTimeslices()
	}
}
