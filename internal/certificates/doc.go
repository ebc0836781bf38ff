// Package certificates issues the certificates of test servers, of their clients, and of a development cluster.
//
// It imports the standard library only. It returns a key only to the caller that requested it, and no authority is
// valid for more than a year.
package certificates
