package workload

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Run is what of a run decides its requests. Numbers are totals over all pods.
type Run struct {
	// Prefix lies before every key of the run.
	Prefix string `json:"prefix"`
	// FirstLease is the lowest of the LeaseIDs IDs of the run's leases; 0 where
	// it needs none.
	FirstLease   int64              `json:"firstLease,omitempty"`
	Workload     spec.Workload      `json:"workload"`
	Load         spec.Load          `json:"load"`
	Disturbances []spec.Disturbance `json:"disturbances,omitempty"`
}

// kind returns the type of workload; base if there is none such.
func (r *Run) kind() kind { return kindOf(r.Workload) }

func kindOf(w spec.Workload) kind {
	if create := kinds[w.Type]; create != nil && isUnion(w) {
		return create(w)
	}
	return base{}
}

// isUnion says whether the field that the type names is set, and no other.
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

// Check returns everything that keeps the workload and the disturbances from being
// run, joined, or nil. The API checks the same at admission; here the operator and
// the client pods protect themselves from each other's mistakes.
func (r *Run) Check() error {
	if err := oneOf("workload.type", r.Workload.Type, Types()...); err != nil {
		return err
	}
	if !isUnion(r.Workload) {
		return Wanted(false, "workload", fmt.Sprintf("the field of type %s, and no other", r.Workload.Type), r.Workload.Type)
	}
	return errors.Join(errors.Join(r.kind().check(r)...), r.checkLeaseIDs(), r.checkStorm())
}

// Wanted returns nil if something is as it is wanted, else an error that names the
// field of the plan, what was wanted there and what was found.
func Wanted(ok bool, field string, wanted, found any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("plan: %s: wanted %v, found %#v", field, wanted, found)
}

// oneOf wants a word that is known.
func oneOf[T ~string](field string, found T, known ...T) error {
	return Wanted(slices.Contains(known, found), field, fmt.Sprintf("one of %v", known), found)
}

// Pods is the number of client pods.
func (r *Run) Pods() int { return int(r.Load.Pods) }

// Keys are those that requests choose from; their Count is 0 if they choose from
// none.
func (r *Run) Keys() spec.Keys { return r.kind().keys() }

// Values are what is written.
func (r *Run) Values() spec.Values { return r.kind().values() }

// UsesRegistry says whether the keys are those of a Kubernetes registry, and not
// numbers.
func (r *Run) UsesRegistry() bool {
	_, is := r.kind().(kubernetes)
	return is
}

// Contends says whether clients contend for names.
func (r *Run) Contends() bool { return r.kind().contest() != nil }

// DrainLimit is how long what is in flight when the window ends may take: where a
// request has two halves, each may take its time-out.
func (r *Run) DrainLimit() time.Duration {
	if c := r.kind().contest(); c != nil {
		return 2*r.Load.RequestTimeout() + c.hold
	}
	return r.Load.RequestTimeout()
}

// LockPrefix lies before the names of the run's locks. They are keys too, but
// none of the load's.
func (r *Run) LockPrefix() string { return r.Prefix + ".lock/" }

// Carriers is how many connections carry watchers and nothing else.
func (r *Run) Carriers() int {
	if w := r.kind().watch(); w != nil {
		return w.connections
	}
	return 0
}

// Words are how people read the result.
func (r *Run) Words() Words { return r.kind().words() }

// Consistency of the reads.
func (r *Run) Consistency() spec.Consistency { return r.kind().consistency() }

// Operations returns the kinds of operations that the workload measures.
func (r *Run) Operations() []spec.Operation { return r.kind().operations() }

// ReplaysHistory says whether watchers read the past.
func (r *Run) ReplaysHistory() bool {
	w := r.kind().watch()
	return w != nil && w.history > 0
}
