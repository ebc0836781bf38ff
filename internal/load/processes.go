package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	outside "github.com/etcdbench/etcd-benchmark-operator/internal/load/sampler"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// processes is a Sampler for a store whose driver is none: its samples have what the samplers of the plan have measured of
// the members' processes.
type processes struct {
	// addresses are those of samplers, by the ID of the member.
	addresses map[string]string
}

// processesOf returns nil for a target without samplers.
func processesOf(target plan.Target, all []results.Member) Sampler {
	addresses := map[string]string{}
	for _, m := range all {
		if i := slices.Index(target.Endpoints, m.Endpoint); i >= 0 && len(target.Samplers) > 0 {
			addresses[m.ID] = target.Samplers[i]
		}
	}
	if len(addresses) == 0 {
		return nil
	}
	return processes{addresses}
}

// Sample implements Sampler.
func (p processes) Sample(ctx context.Context, since time.Time) map[string]members.Sample {
	var mutex sync.Mutex
	var asking sync.WaitGroup
	samples := map[string]members.Sample{}
	for id, address := range p.addresses {
		asking.Go(func() {
			answer, err := outside.Ask(ctx, address, since)
			s := members.Sample{At: time.Now()}
			if err == nil {
				err = outside.Add(answer, &s)
			}
			if err != nil {
				s.Problem = fmt.Sprintf("the use of its process was not known: %v", err)
			}
			mutex.Lock()
			defer mutex.Unlock()
			samples[id] = s
		})
	}
	asking.Wait()
	return samples
}
