// Package frame lays HTTP/2 frames out as bytes and back (RFC 9113, section 4
// and 6).
//
// It is pure and imports the standard library. Its one invariant: it decides
// nothing about a connection; it only says what the bytes mean.
package frame
