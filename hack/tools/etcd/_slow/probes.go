package rafthttp

import "time"

// Peers are probed, and what was found is observed, so often that some seconds
// are enough for the thirty observations that a judgement takes.
func init() {
	proberInterval = 250 * time.Millisecond
	statusMonitoringInterval, statusErrorInterval = 200*time.Millisecond, 200*time.Millisecond
}
