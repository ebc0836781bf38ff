// Package trend judges the history of one metric of a benchmark that runs every night. A history has one value per
// session, oldest first. Each value is the natural logarithm of a throughput or a latency.
//
// Judge raises an alarm at once, from the newest value alone. Changes finds where the level of the history has changed,
// at the earliest from the third session of the new level. Both assume that the noise of a session does not depend on
// the session before. If it does, false alarms are more frequent.
//
// The package is pure: equal input gives equal output. It imports only the standard library and gonum.
package trend
