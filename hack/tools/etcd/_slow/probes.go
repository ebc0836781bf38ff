package rafthttp

import "time"

// Peers are probed, and the result is observed, so often that the thirty observations of a judgement take only some
// seconds. The result is a moving average; the last probe has a weight of one eighth.
func init() {
	proberInterval = 50 * time.Millisecond
	statusMonitoringInterval, statusErrorInterval = 100*time.Millisecond, 100*time.Millisecond
}
