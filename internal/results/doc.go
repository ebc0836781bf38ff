// Package results is what a client pod has counted, one Snapshot, and what follows
// from many of them: the merge and the summary. Package wire is how it travels.
//
// It is pure: it imports the standard library, and no client, context, clock, logger
// or goroutine. Its one invariant: merging adds buckets and counts and nothing else,
// so that merging what two pods recorded equals what one pod would have recorded.
package results
