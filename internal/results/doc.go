// Package results is the contract from a client pod to whoever reads its
// numbers: one Snapshot, carried as Prometheus metric families over a scrape,
// or in small over a termination message, and what follows from many of them:
// the merge and the summary.
//
// It is pure: it imports the standard library, Prometheus types and protobuf, and no
// client, context, clock, logger or goroutine. Its one invariant: merging adds
// buckets and counts and nothing else, so that merging what two pods recorded
// equals what one pod would have recorded.
//
// What pods send is untrusted: decoders bound size, counts and schemas, and
// return an error instead of a wrong number.
package results
