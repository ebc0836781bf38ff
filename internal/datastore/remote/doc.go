// Package remote contains what the drivers share for control requests: retries and explanations of errors.
//
// It imports load for its errors, and no store. An explained error names the address and says what to check.
package remote
