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

// Changes of one object by one API server come one after the other, and each uses the revision of the one before: none
// is lost.
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
				t.Errorf("%s %s, lost: %v; no other client has changed the object", response.Code, response.Detail, response.Lost)
			}
		})
	}
	changing.Wait()
	got, err := client.Get(t.Context(), string(object(spec.OperationOptimisticPut, "a", false).Key))
	if err != nil || len(got.Kvs) != 1 || got.Kvs[0].Version != 21 {
		t.Errorf("the object is %v (%v), wanted its 21st version", got, err)
	}
}

// A client that waits for a key gets it when it is released. Clients of other keys need not wait.
func TestKeyLocks(t *testing.T) {
	locks := newKeyLocks()
	give, err := locks.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if other, err := locks.take(t.Context(), "b"); err != nil {
		t.Fatal(err)
	} else {
		other()
	}
	got := make(chan error)
	go func() {
		next, err := locks.take(t.Context(), "a")
		if err == nil {
			next()
		}
		got <- err
	}()
	canceled, cancel := context.WithCancelCause(t.Context())
	late := errors.New("too late")
	cancel(late)
	if _, err := locks.take(canceled, "a"); !errors.Is(err, late) {
		t.Errorf("the canceled wait got %v, wanted %v", err, late)
	}
	give()
	if err := <-got; err != nil {
		t.Error(err)
	}
	if len(locks.taken) > 0 {
		t.Errorf("%d keys are left, wanted none", len(locks.taken))
	}
}
