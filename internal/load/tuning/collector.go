package tuning

import (
	"os"
	"runtime/debug"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// collectorPercent is by how much the heap may grow, above what is in use,
// before garbage is collected. At Go's own 100, clientv3 at full speed spends a
// sixth of its processor time on collecting, which happens two fifths as often at
// 250. The peak of 1,000 clients over 500,000 requests was 140 MB then, 115 MB at
// 200 and 150 MB at 300, where ten million came to 159 MB.
const collectorPercent = 250

// relaxCollector leaves alone what somebody has set, and a transport that leaves no
// garbage: its heap would only grow, slowly, to where it is collected.
func relaxCollector(transport spec.Transport) {
	if os.Getenv("GOGC") == "" && transport == spec.TransportClient {
		debug.SetGCPercent(collectorPercent)
	}
}
