// Package remote contains what the drivers share: retries and explanations of errors, questions to all addresses,
// connections over net/http, and the times of hand-offs.
//
// It imports load for its errors, and no store. An explained error names the address and says what to check.
package remote
