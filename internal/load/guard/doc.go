// Package guard decides when a load must end early, from observations of the target and of the requests.
//
// It imports plan, results, members and the standard library, and is pure: no context, clock or goroutine. Its one
// invariant: data that is missing fires no rule; the rule is reported as not watched.
package guard
