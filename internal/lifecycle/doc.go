// Package lifecycle decides what happens next to a run: Observed and the time
// go in, a Decision comes out.
//
//	Pending ─ target resolved ─▶ Preparing ─ all pods ready ─▶ Armed ─ start ─▶ Running
//	   │                            │                            │                │
//	   │        stop, failure, timeout: Ending is recorded       │          pods drain
//	   ▼                            ▼                            ▼                ▼
//	Finished ◀──────────────────── all pods reported, or the grace is over ── Collecting
//	   │
//	   └─ aftermath: pods released, keys cleaned, finalizer dropped, object expired
//
// Between Pending and Preparing a run may be Queued behind others on its target;
// from Preparing it may come back to that, as long as its pods have not written.
//
// It is pure: it imports the API, the contracts with the pods and API
// machinery's types, and no client, context, clock, logger or goroutine. Its one
// invariant: whatever is observed, and in whatever order, a run that is asked
// again when its Decision says so becomes Finished, and then stays so.
package lifecycle
