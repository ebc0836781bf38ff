// Package wire is how a snapshot travels from a client pod to whoever reads it: as
// Prometheus metric families over a scrape, or in small as a termination message.
//
// It is pure: it imports package results, the standard library, Prometheus types and
// protobuf, and no client, context, clock, logger or goroutine; package results does
// not import it. Its one invariant: what is decoded is what was encoded, as far as
// there was room, and by either road the same.
//
// What pods send is untrusted: decoders bound size, counts and schemas, and
// return an error instead of a wrong number.
package wire
