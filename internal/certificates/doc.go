// Package certificates issues the certificates of test servers, of their clients, and of a cluster for development.
//
// It imports the standard library only. Its one invariant: a key never leaves it but as what was asked for, and no
// authority outlives a year.
package certificates
