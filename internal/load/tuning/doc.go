// Package tuning makes this process ask the Go runtime and the kernel for what a load generator needs: rarer garbage
// collection, and processor time soon after waking up. It is for processes that run no member of the target.
//
// It imports spec, x/sys and the standard library. It leaves alone, without an error, what the user has set or the
// machine forbids.
package tuning

import "github.com/etcdbench/etcd-benchmark-operator/api/spec"

// Process tunes this process for its part of a load.
func Process(l spec.Load) {
	tuneCollector(l)
	if l.OpenLoop() {
		askForShortTimeslices()
	}
}
