// Package guard decides, from what is seen of the target and of the requests,
// when a load that goes on must end.
//
// It imports plan, results, members and the standard library, and is pure: no
// context, clock or goroutine. Its one invariant: what was not seen fires no
// rule, and is told as a rule that was not watched.
package guard
