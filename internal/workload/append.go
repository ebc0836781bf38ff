package workload

import (
	"fmt"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// appending appends one entry to a write-ahead log with each request. There are no keys.
type appending struct {
	base
	entry int32
}

func newAppend(w spec.Workload) kind { return appending{entry: w.Append.EntryBytes} }

func (appending) operations() []spec.Operation {
	return []spec.Operation{spec.OperationAppend, spec.OperationAppend.Inner()}
}

func (k appending) values() spec.Values {
	return spec.Values{SizeBytes: k.entry, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, MinSizeBytes: &k.entry}
}

func (appending) at(_ *Workload, _ Stream, n int64) Operation {
	return Operation{Kind: spec.OperationAppend, Subject: OnLog, Value: n, Writes: true}
}

// growth: there is no database.
func (appending) growth(*Run) (preload, request float64, known bool) { return 0, 0, true }

func (k appending) check(r *Run) []error {
	return []error{
		Wanted(k.entry >= 1 && k.entry <= spec.MaxEntryBytes, "workload.append.entryBytes", fmt.Sprintf("1 to %d", spec.MaxEntryBytes), k.entry),
		Wanted(r.Load.Connections == r.Load.Pods, "load.connections", fmt.Sprintf("%d, as load.pods, because a log has one writer", r.Load.Pods), r.Load.Connections),
	}
}

func (appending) words() Words {
	return Words{Done: "APPENDS", Rate: "APPENDS PER SECOND", Succeeded: true}
}
