// Package lifecycle decides what happens next to a run. The input is Observed and the time, the output is a Decision.
// SetStatus then makes the status of the run.
//
//	Pending ─ target resolved ─▶ Preparing ─ all pods ready ─▶ Armed ─ start ─▶ Running
//	   │                            │                            │                │
//	   │        stop, failure, timeout: Ending is recorded       │          pods drain
//	   ▼                            ▼                            ▼                ▼
//	Finished ◀──────────────────── all pods reported, or the grace is over ── Collecting
//	   │
//	   └─ after the end: pods released, keys cleaned, finalizer dropped, object expired
//
// Between Pending and Preparing a run may be Queued behind other runs on its target. It may return from Preparing to
// Queued while its pods have not written.
//
// The package is pure: it imports the API, the contracts with the pods and API machinery's types, but no client,
// context, clock, logger or goroutine. Grace periods count from Observed.Seen and from other times at which the
// operator saw something, and not from the stamps of other processes, whose clocks may differ. For any sequence of
// observations, a run that is decided again at its Requeue times becomes Finished and stays Finished.
package lifecycle
