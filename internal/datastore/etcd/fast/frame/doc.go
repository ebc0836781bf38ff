// Package frame encodes and decodes HTTP/2 frames (RFC 9113, sections 4 and 6).
//
// It is pure and imports the standard library. It holds no state of a connection and makes no decisions for one.
package frame
