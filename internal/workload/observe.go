package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// observing asks one member for its status with each request. There are no keys.
type observing struct{ base }

func newObserve(spec.Workload) kind { return observing{} }

func (observing) operations() []spec.Operation { return []spec.Operation{spec.OperationStatus} }

func (observing) at(*Workload, Stream, int64) Operation {
	return Operation{Kind: spec.OperationStatus, Subject: OnMember}
}

// growth: nothing is written.
func (observing) growth(*Run) (preload, request float64, known bool) { return 0, 0, true }

func (observing) check(r *Run) []error {
	l := r.Load
	one := l.Pods == 1 && l.Connections == 1 && l.Clients == 1 && l.WarmupSeconds == 0 && l.Requests == nil
	return []error{
		Wanted(one, "load", "only durationSeconds for workload.type Observe", fmt.Sprintf("%d pods, %d connections, %d clients, a warm-up of %d s and %d requests", l.Pods, l.Connections, l.Clients, l.WarmupSeconds, l.RequestBound())),
		Wanted(len(r.Disturbances) == 0, "disturbances", "none for workload.type Observe", len(r.Disturbances)),
	}
}

func (observing) words() Words { return Words{Done: "STATUS REQUESTS", Rate: "REQUESTS PER SECOND"} }
