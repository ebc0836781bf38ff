package workload

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// kind is what the program asks of one type of workload. base answers what is
// alike for most of them.
type kind interface {
	// keys are those that requests choose from, and values what is written to
	// them. A Count of 0 says that requests choose from none.
	keys() spec.Keys
	values() spec.Values
	// operations are what is measured.
	operations() []spec.Operation
	// begin readies a Workload to compute operations.
	begin(w *Workload)
	// at returns operation n of a stream.
	at(w *Workload, stream Stream, n int64) Operation
	// preload is how many operations come before the load, and each of them.
	preload(r *Run) int64
	preloaded(w *Workload, number int64) Operation
	// growth is how many bytes the preload, and each request on average, add to the
	// database of each member; known is false where nothing is known of that.
	growth(r *Run) (preload, request float64, known bool)
	// check returns everything that keeps the workload from being run, and the rest
	// of the run from fitting it.
	check(r *Run) []error

	// unary: each request is answered once, so that it needs no stream.
	unary() bool
	// width is how many keys that follow each other a request covers.
	width() int64
	// several is how many keys an operation on several has, and writePercent how many
	// of a hundred of them it writes.
	several() int
	writePercent() int
	consistency() spec.Consistency
	// contest is for what clients contend; nil if for nothing.
	contest() *contest
	// sessions: each client has a lease that its locks are attached to.
	sessions() bool
	// leases is how many leases the run grants on purpose, and -1 if it grants some
	// as it goes.
	leases(r *Run) int64
	// watch is who watches the load; nil if nobody does.
	watch() *watch
	// watchers are a pod's, by the streams that carry them.
	watchers(w *Workload, pod int) [][]Watcher
	// words are how people read the result.
	words() Words
}

// Words are how people read the result of a workload.
type Words struct {
	// Done is the heading of how many requests were done, Written that where each
	// one wrote a key of its own, and Rate that of their rate, as on etcd's page.
	Done, Written, Rate string
	// Succeeded: what failed is not counted as done.
	Succeeded bool
	// Targets: the members that received the load are worth a column. Else the
	// consistency of reads is, if there are any.
	Targets bool
	// Names are what etcd's own benchmark calls what it measures alike.
	Names map[spec.Operation]string
}

// base is a kind that reads and writes nothing.
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
func (base) unary() bool                                        { return false }
func (base) consistency() spec.Consistency                      { return spec.Linearizable }
func (base) contest() *contest                                  { return nil }
func (base) sessions() bool                                     { return false }
func (base) leases(*Run) int64                                  { return 0 }
func (base) watch() *watch                                      { return nil }
func (base) begin(*Workload)                                    {}
func (base) watchers(*Workload, int) [][]Watcher                { return nil }
func (base) operations() []spec.Operation                       { return nil }
func (base) at(*Workload, Stream, int64) Operation              { return Operation{} }
func (base) words() Words                                       { return Words{Done: "REQUESTS", Rate: "QPS"} }

// keyed is a kind whose requests choose from keys. They are there before the load
// unless it says otherwise.
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

// Write is the operation that writes one key.
func Write(key, value int64) Operation {
	return Operation{Kind: spec.OperationPut, Key: key, Value: value, Writes: true}
}

// get1 reads the keys that a request covers, all of which must be there.
func get1(w *Workload, stream Stream, n int64) Operation {
	return Operation{Kind: spec.OperationRange, Key: w.key(stream, n), Value: n, Needs: w.kind.width()}
}

// contest is for what clients contend, each for one name all the time.
type contest struct {
	names int
	// win and giveUp are the two halves of a request, and hold lies between them.
	win, giveUp spec.Operation
	hold        time.Duration
}
