// Package verdict judges a run's numbers: which objectives they meet, whether the target or the clients were the limit,
// what weakens the numbers, and where the time went.
//
// The package is pure: it imports the API, the results of runs and API machinery types, but no client, context, clock,
// logger or goroutine. An objective that the numbers do not decide is Unknown and never counts as met.
package verdict
