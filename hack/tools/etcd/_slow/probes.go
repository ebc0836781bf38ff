package rafthttp

import "time"

// Peers are probed, and what was found is observed, so often that some seconds
// are enough for the thirty observations that a judgement takes. What is found is
// a moving average, of which an eighth is the last probe.
func init() {
	proberInterval = 50 * time.Millisecond
	statusMonitoringInterval, statusErrorInterval = 100*time.Millisecond, 100*time.Millisecond
}
