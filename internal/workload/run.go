package workload

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Run has the part of a run's settings that decides its requests. Numbers are totals over all pods.
type Run struct {
	// Prefix is the prefix of every key of the run.
	Prefix string `json:"prefix"`
	// FirstLease is the lowest of the LeaseIDs IDs of the run's leases; 0 if it needs none.
	FirstLease   int64              `json:"firstLease,omitempty"`
	Workload     spec.Workload      `json:"workload"`
	Load         spec.Load          `json:"load"`
	Disturbances []spec.Disturbance `json:"disturbances,omitempty"`
}

// kind returns the type of workload; base if it is unknown.
func (r *Run) kind() kind {
	k := kindOf(r.Workload)
	if f, ok := k.(fetch); ok {
		return f.of(int64(r.Load.Clients))
	}
	return k
}

func kindOf(w spec.Workload) kind {
	if create := kinds[w.Type]; create != nil && isUnion(w) {
		return create(w)
	}
	return base{}
}

// isUnion reports whether only the field that the type names is set.
func isUnion(w spec.Workload) bool {
	fields := reflect.ValueOf(w)
	for i := range fields.NumField() {
		f := fields.Field(i)
		if f.Kind() == reflect.Pointer && f.IsNil() == (fields.Type().Field(i).Name == string(w.Type)) {
			return false
		}
	}
	return true
}

// Check returns all errors of the workload and the disturbances, joined, or nil. The API checks the same at admission.
// Here the operator and the client pods protect themselves against each other's errors.
func (r *Run) Check() error {
	if err := oneOf("workload.type", r.Workload.Type, Types()...); err != nil {
		return err
	}
	if !isUnion(r.Workload) {
		return Wanted(false, "workload", fmt.Sprintf("the field of type %s, and no other", r.Workload.Type), r.Workload.Type)
	}
	return errors.Join(errors.Join(r.kind().check(r)...), r.checkLeaseIDs(), r.checkStorm())
}

// Wanted returns nil if ok. Otherwise it returns an error with the field of the plan, what was wanted and what was
// found.
func Wanted(ok bool, field string, wanted, found any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("plan: %s: wanted %v, found %#v", field, wanted, found)
}

// oneOf wants one of the known values.
func oneOf[T ~string](field string, found T, known ...T) error {
	return Wanted(slices.Contains(known, found), field, fmt.Sprintf("one of %v", known), found)
}

// Pods is the number of client pods.
func (r *Run) Pods() int { return int(r.Load.Pods) }

// Keys are the keys that requests choose from; their Count is 0 if they choose none.
func (r *Run) Keys() spec.Keys { return r.kind().keys() }

// PreloadCount is how many operations the workload sends before the load.
func (r *Run) PreloadCount() int64 { return r.kind().preload(r) }

// Values are the values that requests write.
func (r *Run) Values() spec.Values { return r.kind().values() }

// KeysAtOnce is the number of keys of an operation on several; 0 if there is none.
func (r *Run) KeysAtOnce() int { return r.kind().several() }

// UsesRegistry reports whether the keys are those of a Kubernetes registry rather than numbers.
func (r *Run) UsesRegistry() bool {
	_, is := r.kind().(kubernetes)
	return is
}

// Contends reports whether clients contend for names.
func (r *Run) Contends() bool { return r.kind().contest() != nil }

// DrainLimit is how long operations in flight may take after the window has ended. Each step may take the request
// time-out.
func (r *Run) DrainLimit() time.Duration {
	steps := r.kind().steps()
	limit := time.Duration(max(len(steps), 1)) * r.Load.RequestTimeout()
	for _, s := range steps {
		limit += s.hold
	}
	return limit
}

// LockPrefix is the prefix of the run's lock names. Locks are keys, but the load does not choose them.
func (r *Run) LockPrefix() string { return r.Prefix + ".lock/" }

// Carriers is the number of connections that carry only watchers.
func (r *Run) Carriers() int {
	if w := r.kind().watch(); w != nil {
		return w.connections
	}
	return 0
}

// Burst describes the tasks, if each operation is one; nil otherwise.
func (r *Run) Burst() *Burst { return r.kind().burst() }

// Words are the terms that describe the result.
func (r *Run) Words() Words { return r.kind().words() }

// Consistency of the reads.
func (r *Run) Consistency() spec.Consistency { return r.kind().consistency() }

// Operations returns the kinds of operations that the workload measures.
func (r *Run) Operations() []spec.Operation { return r.kind().operations() }

// ReplaysHistory reports whether watchers read past events.
func (r *Run) ReplaysHistory() bool {
	w := r.kind().watch()
	return w != nil && w.history > 0
}
