// Package results holds the counts of client pods (Snapshot), their merge and their summary. Package wire encodes them.
//
// The package is pure: it imports the standard library, but no client, context, clock, logger or goroutine. Its one
// invariant: merging only adds buckets and counts, so merging the records of two pods equals recording everything in
// one pod.
package results
