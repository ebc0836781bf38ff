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

// processes are the addresses of the samplers that measure the members' processes, by the ID of the member.
type processes map[string]string

// processesOf is empty for a target without samplers.
func processesOf(target plan.Target, all []results.Member) processes {
	addresses := processes{}
	for _, m := range all {
		if i := slices.Index(target.Endpoints, m.Endpoint); i >= 0 && len(target.Samplers) > 0 {
			addresses[m.ID] = target.Samplers[i]
		}
	}
	return addresses
}

// sample returns the metrics that a driver reads of the members, and what was measured of their processes, with the highest
// values since a time. own is nil for a driver that reads none; otherwise a sample without its process is valid.
func (p processes) sample(ctx context.Context, own Sampler, since time.Time) map[string]members.Sample {
	var mutex sync.Mutex
	var asking sync.WaitGroup
	add := map[string]func(*members.Sample) error{}
	for id, address := range p {
		asking.Go(func() {
			answer, err := outside.Ask(ctx, address, since)
			mutex.Lock()
			defer mutex.Unlock()
			add[id] = func(s *members.Sample) error {
				if err != nil {
					return err
				}
				return outside.Add(answer, s)
			}
		})
	}
	samples := map[string]members.Sample{}
	if own != nil {
		samples = own.Sample(ctx)
	}
	asking.Wait()
	for id := range p {
		s, isOwn := samples[id]
		if !isOwn {
			s.At = time.Now()
		}
		if err := add[id](&s); err != nil && !isOwn {
			s.Problem = fmt.Sprintf("the use of its process was not known: %v", err)
		}
		samples[id] = s
	}
	return samples
}
