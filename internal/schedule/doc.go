// Package schedule computes the starts of a cron schedule in a time zone, and which start is due. It is pure: the
// caller passes the current time. Its invariant: a start that is due is never after that time, and after a downtime
// of any length at most one start is made up for.
//
// # Expressions
//
// An expression has five fields: minute, hour, day of month, month and day of week. Or it is one of @yearly, @annually,
// @monthly, @weekly, @daily, @midnight and @hourly. If both days are restricted, a day that matches either one counts.
// A list of days and a step over all days (*/2) are both restrictions. These are the rules of Kubernetes' CronJob.
//
// Parse refuses @every 1h (it has no fixed times), a time zone within the expression, and dates that never occur.
//
// # Daylight saving time
//
// Hours are fixed, unless an item of the hour field begins with * or ?, or the expression is @hourly.
//
//	                             fixed hours (30 2 * * *)           every hour or step (*/15 * * * *, 0 */2 * * *)
//	the clock is put back:       starts once, the first time        starts each time
//	the time occurs twice
//	the clock is put forward:    starts at the end of the gap       does not start
//	the time does not exist
//
// All times of fixed hours that fall into the same gap give one start.
//
// In one sentence: a fixed time starts at the first instant when the clock shows that time or a later one; any other
// time starts at each instant when the clock shows it.
package schedule
