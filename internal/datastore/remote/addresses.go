package remote

import (
	"fmt"
	"hash/fnv"
	"strings"
	"sync"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Addresses are those of a target over which the connections of all pods are spread.
type Addresses struct {
	plan  plan.Plan
	index int

	mutex sync.Mutex
	// reached are those that the last call of Skip has reached. Only these get load.
	reached []string
}

// NewAddresses returns the addresses for the pod with this index.
func NewAddresses(p plan.Plan, index int) *Addresses { return &Addresses{plan: p, index: index} }

// String names the target in errors that are not about one address.
func (a *Addresses) String() string { return strings.Join(a.plan.Target.Endpoints, ", ") }

// Loaded returns the addresses that are asked and may get load: all but those that the run skips.
func (a *Addresses) Loaded() []string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.reached == nil {
		return a.plan.Target.Endpoints
	}
	return a.reached
}

// Of returns the address of the connection with this global index.
func (a *Addresses) Of(connection int) string {
	if alone := a.plan.Target.Alone(); alone != "" {
		return alone
	}
	loaded := a.Loaded()
	return loaded[connection%len(loaded)]
}

// Fit fails if an address takes fewer connections than this pod opens to it: those of the load, and some beside it. setting is
// where the server has the limit, and 0 is none.
func (a *Addresses) Fit(address string, most, beside int, setting string) error {
	part, err := a.plan.Part(a.index)
	wanted := beside
	for c := range part.Connections {
		if a.Of(part.FirstConnection+c) == address {
			wanted++
		}
	}
	if err == nil && most > 0 && wanted > most {
		err = load.Errorf(results.FailureTargetUnhealthy,
			"%s takes %d connections from one address (%s), and this client pod needs %d: %d for the load and %d beside it. Raise %[3]s, lower spec.load.connections, or raise spec.load.pods",
			address, most, setting, wanted, wanted-beside, beside)
	}
	return err
}

// Skip returns what Reachable does, and leaves the addresses that do not answer without load.
func (a *Addresses) Skip(errs []error) (reached []int, skipped map[string]string, err error) {
	if reached, skipped, err = Reachable(a.plan.Target, errs); err == nil {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		a.reached = Pick(a.plan.Target.Endpoints, reached)
	}
	return reached, skipped, err
}

// Hashed derives an ID from strings, for stores that have none.
func Hashed(words ...string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(strings.Join(words, "\n")))
	return fmt.Sprintf("%016x", sum.Sum64())
}
