// Package reach has what the drivers share for requests beside the load: repeating them,
// explaining why an address cannot be used, and waiting for the last pod.
//
// It imports load for its errors, and no store. Its one invariant: an explained
// error names the address and says what to check.
package reach
