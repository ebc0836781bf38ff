package tuning

import (
	"os"
	"runtime/debug"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// collectorPercent is the heap growth, above what is in use, at which garbage is collected. With Go's default of 100,
// clientv3 at full speed spends a sixth of its processor time on collections. With 250, they are two fifths as
// frequent. The peak memory of 1,000 clients over 500,000 requests was 140 MB at 250, 115 MB at 200 and 150 MB at 300;
// over ten million requests at 300 it was 159 MB.
const collectorPercent = 250

// Clients on event loops leave no garbage, so a small growth costs nothing. It matters if there are many of them: 70,000
// processes of a burst had a peak of 205 MB with Go's default.
const (
	manyClients   = 20_000
	ofManyOnLoops = 50
)

// tuneCollector does nothing if GOGC is set, or for a usual number of clients on event loops: there the heap would only grow
// slowly towards a larger limit.
func tuneCollector(l spec.Load) {
	switch {
	case os.Getenv("GOGC") != "":
	case !l.Transport.Loops():
		debug.SetGCPercent(collectorPercent)
	case l.Clients >= manyClients:
		debug.SetGCPercent(ofManyOnLoops)
	}
}
