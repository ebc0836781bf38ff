package remote

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
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
// the server's name of the limit, file is where a user sets it, and 0 is none.
func (a *Addresses) Fit(address string, most, beside int, setting, file string) error {
	part, err := a.plan.Part(a.index)
	for _, c := range a.plan.EarlyConnections(part) {
		if a.Of(c) == address {
			beside++
		}
	}
	wanted := beside
	for c := range part.Connections {
		if a.Of(part.FirstConnection+c) == address {
			wanted++
		}
	}
	if a.plan.Ephemeral {
		file = "spec.target.ephemeral.settings"
	}
	if err == nil && most > 0 && wanted > most {
		err = load.Errorf(results.FailureTargetUnhealthy,
			"%s takes %d connections from one address (%s), and this client pod needs %d: %d for the load and %d beside it. Raise it in %[7]s, lower spec.load.connections, or raise spec.load.pods in a cluster",
			address, most, setting, wanted, wanted-beside, beside, file)
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

// Ask asks all addresses at the same time, and repeats a question after a temporary error. The answers are in the order of
// Loaded, without those of addresses that the run skips; skipped has the reason for each of them. An error about a lost quorum
// is returned before errors of addresses that do not answer.
func Ask[T any](ctx context.Context, a *Addresses, passes func(error) bool, explain func(err error, address string) error,
	ask func(ctx context.Context, address string) (T, error)) (answers []T, skipped map[string]string, err error) {
	endpoints := a.plan.Target.Endpoints
	all := make([]T, len(endpoints))
	errs := All(endpoints, func(i int) error {
		return explain(Repeat(ctx, passes, func(ctx context.Context) (err error) {
			all[i], err = ask(ctx, endpoints[i])
			return err
		}), endpoints[i])
	})
	if i := slices.IndexFunc(errs, hasNoQuorum); i >= 0 {
		return nil, nil, errs[i]
	}
	reached, skipped, err := a.Skip(errs)
	return Pick(all, reached), skipped, err
}

// States asks all addresses that get load once, and at the same time. An error is the problem of its member.
func (a *Addresses) States(ask func(address string) (members.State, error)) map[string]members.State {
	return ofEach(a, ask, func(_ string, err error) members.State { return members.State{Problem: err.Error()} })
}

// Samples asks as States does.
func (a *Addresses) Samples(ask func(address string) (members.Sample, error)) map[string]members.Sample {
	return ofEach(a, ask, func(address string, err error) members.Sample {
		return members.Sample{Problem: fmt.Sprintf("%s at %s: %v", results.UnreadMetrics, address, err)}
	})
}

// ofEach returns the answers by the ID of the member, or what an error stands for.
func ofEach[T any](a *Addresses, ask func(address string) (T, error), failed func(address string, err error) T) map[string]T {
	endpoints := a.Loaded()
	answers := make([]T, len(endpoints))
	errs := All(endpoints, func(i int) (err error) {
		answers[i], err = ask(endpoints[i])
		return err
	})
	of := map[string]T{}
	for i, endpoint := range endpoints {
		if errs[i] != nil {
			answers[i] = failed(endpoint, errs[i])
		}
		of[Hashed(endpoint)] = answers[i]
	}
	return of
}

// Guard refuses a target on which another system depends, unless the plan accepts that. tenants are systems by what they keep
// in this store, and holds looks for that.
func (a *Addresses) Guard(store string, tenants map[string]string, holds func(what string) (bool, error)) error {
	if a.plan.Guard.AcknowledgeControlPlane {
		return nil
	}
	for _, what := range slices.Sorted(maps.Keys(tenants)) {
		held, err := holds(what)
		if err != nil {
			return err
		}
		if held {
			return load.Errorf(results.FailureControlPlaneTarget,
				"%s holds %s, which %s uses: a load can take that system down. Name another %s, or set spec.guard.acknowledgeControlPlane: true to load this one",
				a.String(), what, tenants[what], store)
		}
	}
	return nil
}

func hasNoQuorum(err error) bool {
	e, ok := errors.AsType[*load.Error](err)
	return ok && e.Reason == results.FailureNoQuorum
}

// Hashed derives an ID from strings, for stores that have none.
func Hashed(words ...string) string {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(strings.Join(words, "\n")))
	return fmt.Sprintf("%016x", sum.Sum64())
}
