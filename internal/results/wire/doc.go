// Package wire encodes and decodes snapshots on their way from a client pod to a reader: as Prometheus metric families
// for a scrape, or in a shorter form as a termination message.
//
// The package is pure: it imports package results, the standard library, Prometheus types and protobuf, but no client,
// context, clock, logger or goroutine; package results does not import it. Decoding returns the encoded snapshot, as
// far as there was room, and both forms decode to the same values.
//
// Input from pods is untrusted: decoders bound size, counts and schemas, and return an error instead of a wrong number.
package wire
