// Package secrets reads the credentials of a target: a set of named files, of which each store reads what it needs. It
// explains the errors of TLS.
//
// It imports load for its errors, plan for where the files are, and no store. An error names the file
// as the user gave it.
package secrets
