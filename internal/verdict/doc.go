// Package verdict says what a run's numbers are worth: which objectives they meet,
// whether they are of the target or of the clients, what makes them weaker than
// they look, and where the time went.
//
// It is pure: it imports the API, what runs measure and API machinery types, and no
// client, context, clock, logger or goroutine. Its one invariant: what the numbers do
// not decide is Unknown, and never counts as met.
package verdict
