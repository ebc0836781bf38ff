package etcd

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Changes of one object by one API server come one after the other, and each knows
// of the one before: none is lost.
func TestChangesOfOneObject(t *testing.T) {
	cluster, client := oneMember(t)
	c := connect(t, connected(t, planFor(cluster.Endpoints, registryPlan)), 0)
	do(t, c, object(spec.OperationOptimisticPut, "a", true))
	var changing sync.WaitGroup
	for range 20 {
		changing.Go(func() {
			request, response := object(spec.OperationOptimisticPut, "a", false), load.Response{}
			c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &request, &response)
			if !response.Succeeded() || response.Lost {
				t.Errorf("%s %s, lost: %v; nobody else has changed the object", response.Code, response.Detail, response.Lost)
			}
		})
	}
	changing.Wait()
	got, err := client.Get(t.Context(), string(object(spec.OperationOptimisticPut, "a", false).Key))
	if err != nil || len(got.Kvs) != 1 || got.Kvs[0].Version != 21 {
		t.Errorf("the object is %v (%v), wanted its 21st version", got, err)
	}
}

// Whoever waits for a key gets it when it is given back, and others need not wait.
func TestTurns(t *testing.T) {
	turns := newTurns()
	give, err := turns.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if other, err := turns.take(t.Context(), "b"); err != nil {
		t.Fatal(err)
	} else {
		other()
	}
	got := make(chan error)
	go func() {
		next, err := turns.take(t.Context(), "a")
		if err == nil {
			next()
		}
		got <- err
	}()
	gaveUp, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	cancel(late)
	if _, err := turns.take(gaveUp, "a"); !errors.Is(err, late) {
		t.Errorf("who gave up got %v, wanted %v", err, late)
	}
	give()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if len(turns.taken) > 0 {
		t.Errorf("%d keys are still known, wanted none", len(turns.taken))
	}
}
