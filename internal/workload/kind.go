package workload

import (
	"maps"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// kind describes one type of workload. base has the methods that most types share.
type kind interface {
	// keys are the keys that requests choose from, and values the values that they write. A Count of 0 means that
	// requests choose no keys.
	keys() spec.Keys
	values() spec.Values
	// operations are the measured operations.
	operations() []spec.Operation
	// begin prepares a Workload to compute operations.
	begin(w *Workload)
	// at returns operation n of a stream.
	at(w *Workload, stream Stream, n int64) Operation
	// steps are the requests of an operation that has several, in their order. at returns the first.
	steps() []step
	// preload is the number of operations before the load, and preloaded returns one of them.
	preload(r *Run) int64
	preloaded(w *Workload, number int64) Operation
	// growth is how many bytes the preload, and each request on average, add to the database of each member; known is
	// false if that is unknown.
	growth(r *Run) (preload, request float64, known bool)
	// check returns all errors of the workload, and of the run's other settings for it.
	check(r *Run) []error

	// width is how many consecutive keys a request covers.
	width() int64
	// several is how many keys an operation on several has, and writePercent the percentage of them that it writes.
	several() int
	writePercent() int
	consistency() spec.Consistency
	// contest describes the names that clients contend for; nil if there are none.
	contest() *contest
	// sessions: each client has a lease to which its locks are attached.
	sessions() bool
	// leases is how many leases the workload itself grants; -1 if the number is not known in advance.
	leases(r *Run) int64
	// watch describes the watchers of the load; nil if there are none.
	watch() *watch
	// watchers returns a pod's watchers, by stream.
	watchers(w *Workload, pod int) [][]Watcher
	// burst describes the tasks, if each operation is one; nil otherwise.
	burst() *Burst
	// folders name the keys; nil if they are numbers.
	folders() *folders
	// words are the terms that describe the result.
	words() Words
}

// Words are the terms that describe the result of a workload.
type Words struct {
	// Done is the heading of the number of requests, Written the heading if each request wrote its own key, and Rate
	// the heading of the rate, as on etcd's page.
	Done, Written, Rate string
	// Succeeded: failed requests do not count as done.
	Succeeded bool
	// Targets: the result has a column for the members that received the load. Otherwise it has one for the consistency
	// of reads, if there are reads.
	Targets bool
	// Names are the names that etcd's own benchmark uses for the same measurements.
	Names map[spec.Operation]string
}

// base is a kind without reads and writes.
type base struct{}

func (base) keys() spec.Keys                                    { return spec.Keys{} }
func (base) values() spec.Values                                { return spec.Values{} }
func (base) preload(*Run) int64                                 { return 0 }
func (base) preloaded(*Workload, int64) Operation               { return Operation{} }
func (base) growth(*Run) (preload, request float64, known bool) { return 0, 0, false }
func (base) check(*Run) []error                                 { return nil }
func (base) width() int64                                       { return 1 }
func (base) several() int                                       { return 0 }
func (base) writePercent() int                                  { return 100 }
func (base) consistency() spec.Consistency                      { return spec.Linearizable }
func (base) contest() *contest                                  { return nil }
func (base) sessions() bool                                     { return false }
func (base) leases(*Run) int64                                  { return 0 }
func (base) watch() *watch                                      { return nil }
func (base) begin(*Workload)                                    {}
func (base) watchers(*Workload, int) [][]Watcher                { return nil }
func (base) operations() []spec.Operation                       { return nil }
func (base) at(*Workload, Stream, int64) Operation              { return Operation{} }
func (base) steps() []step                                      { return nil }
func (base) burst() *Burst                                      { return nil }
func (base) folders() *folders                                  { return nil }
func (base) words() Words                                       { return Words{Done: "REQUESTS", Rate: "QPS"} }

// keyed is a kind whose requests choose from keys. The keys are preloaded unless the kind says otherwise.
type keyed struct {
	base
	space  spec.Keys
	stored spec.Values
}

func (k keyed) keys() spec.Keys     { return k.space }
func (k keyed) values() spec.Values { return k.stored }
func (k keyed) preload(*Run) int64  { return k.space.Count }

func (k keyed) begin(w *Workload) {
	w.choice = newChoice(k.space, k.space.Count-w.width+1, w.seed)
}

func (k keyed) preloaded(_ *Workload, number int64) Operation { return Write(number, number) }

func (k keyed) check(*Run) []error { return checkKeys(k.space, k.stored) }

// Write returns the operation that writes one key.
func Write(key, value int64) Operation {
	return Operation{Kind: spec.OperationPut, Key: key, Value: value, Writes: true}
}

// get1 reads the keys that a request covers, all of which must exist.
func get1(w *Workload, stream Stream, n int64) Operation {
	return Operation{Kind: spec.OperationRange, Key: w.key(stream, n), Value: n, Needs: w.kind.width()}
}

// contest describes the names that clients contend for. Each client always contends for the same one.
type contest struct {
	names int
	// win and giveUp are the two steps of an operation; hold is the time between them.
	win, giveUp spec.Operation
	hold        time.Duration
}

// kinds has each type of workload.
var kinds = map[spec.WorkloadType]func(spec.Workload) kind{
	spec.WorkloadPut:        newPut,
	spec.WorkloadRange:      newRange,
	spec.WorkloadMixed:      newMixed,
	spec.WorkloadDelete:     newDelete,
	spec.WorkloadTxn:        newTxn,
	spec.WorkloadSTM:        newSTM,
	spec.WorkloadLock:       newLock,
	spec.WorkloadElection:   newElection,
	spec.WorkloadLease:      newLease,
	spec.WorkloadWatch:      newWatch,
	spec.WorkloadWatchGet:   newWatchGet,
	spec.WorkloadKubernetes: newKubernetes,
	spec.WorkloadFetch:      newFetch,
	spec.WorkloadAppend:     newAppend,
	spec.WorkloadObserve:    newObserve,
}

// Types returns all types of workloads, sorted.
func Types() []spec.WorkloadType { return slices.Sorted(maps.Keys(kinds)) }
