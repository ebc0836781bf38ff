//go:build faults

package load

import (
	"os"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// clockError is an artificial error of the wall clock. Pods of one node share its clock, and no namespace can give a
// pod its own. So the end-to-end tests build their clients with this file: the clock of the second client pod is a
// minute behind, and that of the third a minute ahead.
var clockError = map[string]time.Duration{"1": -time.Minute, "2": time.Minute}[os.Getenv(plan.IndexEnv)]
