package workload

import (
	"fmt"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// fetch reads all parameters of a process with each task.
type fetch struct {
	keyed
	settings spec.Fetch
	// sets is how many sets of parameters there are.
	sets int64
}

// Burst describes tasks that are due together: sequences of requests, one for each client.
type Burst struct {
	// Measured is the operation whose latency is that of a task.
	Measured spec.Operation
	// Ramp is the time over which the tasks are due.
	Ramp time.Duration
	// Timeout is how long each of Attempts of a request may take.
	Timeout  time.Duration
	Attempts int
	// Connects: each task opens its own connection.
	Connects bool
	// Parameters is how many parameters of ParameterBytes each task reads.
	Parameters, ParameterBytes int64
	// requests is how many requests a task has.
	requests int
}

func newFetch(w spec.Workload) kind { return fetch{settings: *w.Fetch, sets: 1}.of(0) }

// of returns the workload with the keys of this many processes. Without processes, parameters are shared.
func (k fetch) of(processes int64) fetch {
	s := k.settings
	if s.Parameters == spec.ParametersOwn {
		k.sets = max(processes, 1)
	}
	value := s.ParameterBytes
	if s.Layout == spec.LayoutBlob {
		value = int32(min(int64(value)*int64(s.ParametersPerProcess), spec.MaxRequestBytes+1))
	}
	k.space = spec.Keys{Count: k.sets * k.keysOfTask(), Distribution: spec.Sequential}
	k.space.SizeBytes = int32(max(digitsOf(k.space.Count), leastDigits))
	if f := k.folders(); f != nil {
		k.space.SizeBytes = int32(len(f.appendKey(nil, k.keysOfTask()-1)))
	}
	k.stored = spec.Values{SizeBytes: value, Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform}
	return k
}

// leastDigits is the default length of keys.
const leastDigits = 8

// keysOfTask is how many keys a task reads.
func (k fetch) keysOfTask() int64 {
	if k.settings.Layout == spec.LayoutBlob {
		return 1
	}
	return max(int64(k.settings.ParametersPerProcess), 1)
}

// folders are nil if the keys are plain numbers.
func (k fetch) folders() *folders {
	if l := k.settings.Layout; l != spec.LayoutFlat && l != spec.LayoutTree {
		return nil
	}
	return &folders{digits: digitsOf(k.sets), sets: k.sets, keys: k.keysOfTask(), isTree: k.settings.Layout == spec.LayoutTree}
}

func (fetch) operations() []spec.Operation { return []spec.Operation{spec.OperationFetch} }

func (k fetch) consistency() spec.Consistency { return k.settings.Consistency }

func (k fetch) burst() *Burst {
	s, requests := k.settings, 1
	if s.Layout == spec.LayoutFragmented {
		requests = int(s.ParametersPerProcess)
	}
	return &Burst{
		Measured: spec.OperationFetch, Ramp: time.Duration(s.RampSeconds) * time.Second, Timeout: s.Timeout(), Attempts: int(s.Attempts),
		Connects: s.Connect == spec.ConnectAtStart, Parameters: int64(s.ParametersPerProcess), ParameterBytes: int64(s.ParameterBytes), requests: requests,
	}
}

// begin makes the values letters and digits, as parameters are.
func (k fetch) begin(w *Workload) {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i, b := range w.block {
		w.block[i] = characters[b%byte(len(characters))]
	}
}

// at returns the first request of task n.
func (k fetch) at(_ *Workload, _ Stream, n int64) Operation {
	set, keys := n%k.sets, k.keysOfTask()
	if k.folders() != nil {
		return Operation{Kind: spec.OperationRange, Subject: OnFolder, Key: set, Needs: keys}
	}
	return Operation{Kind: spec.OperationRange, Key: set * keys, Needs: 1}
}

func (k fetch) growth(r *Run) (preload, request float64, known bool) {
	return float64(k.space.Count) * k.entry(r), 0, true
}

func (k fetch) check(r *Run) []error {
	s, l := k.settings, r.Load
	response := int64(s.ParametersPerProcess) * (int64(s.ParameterBytes) + folderKeyBytes)
	between := func(field string, found, least, most int32) error {
		return Wanted(found >= least && found <= most, "workload.fetch."+field, fmt.Sprintf("%d to %d", least, most), found)
	}
	return append(k.keyed.check(r),
		oneOf("workload.fetch.layout", s.Layout, spec.LayoutFragmented, spec.LayoutBlob, spec.LayoutFlat, spec.LayoutTree),
		oneOf("workload.fetch.parameters", s.Parameters, spec.ParametersShared, spec.ParametersOwn),
		oneOf("workload.fetch.consistency", s.Consistency, consistencies...),
		oneOf("workload.fetch.connect", s.Connect, spec.ConnectBefore, spec.ConnectAtStart),
		between("parametersPerProcess", s.ParametersPerProcess, 1, 10_000),
		between("parameterBytes", s.ParameterBytes, 1, spec.MaxParameterBytes),
		between("rampSeconds", s.RampSeconds, 0, 3600),
		between("timeoutMilliseconds", s.TimeoutMilliseconds, 1, 600_000),
		between("attempts", s.Attempts, 1, 100),
		Wanted(k.stored.SizeBytes <= spec.MaxParameterBytes, "workload.fetch.parameterBytes", fmt.Sprintf("values of at most %d bytes", spec.MaxParameterBytes), k.stored.SizeBytes),
		Wanted(k.folders() == nil || response <= maxResponseBytes, "workload.fetch.parametersPerProcess", fmt.Sprintf("responses of at most %d bytes", maxResponseBytes), response),
		Wanted(l.Requests != nil && *l.Requests == int64(l.Clients) && l.Rate == nil, "load", "as many requests as clients, and no rate", l.RequestBound()),
		Wanted(l.WarmupSeconds == 0, "load.warmupSeconds", "0 for Fetch", l.WarmupSeconds),
		Wanted(k.memory(l) <= mostMemory, "load.clients", fmt.Sprintf("processes whose responses and connections take at most %d bytes in each client pod: raise load.pods, "+
			"or lower workload.fetch.parametersPerProcess or parameterBytes", int64(mostMemory)), k.memory(l)),
		Wanted(s.Connect == spec.ConnectBefore || l.Connections == l.Clients, "load.connections", fmt.Sprintf("%d, one for each client, with connect AtStart", l.Clients), l.Connections),
	)
}

// A response with several keys has at most maxResponseBytes, in which each key takes up to folderKeyBytes.
const (
	maxResponseBytes = 48 << 20
	folderKeyBytes   = 576
)

// A client pod may need mostMemory for the processes of a burst. A connection without an event loop takes about
// connectionBytes.
const (
	mostMemory      = 2 << 30
	connectionBytes = 130_000
)

// memory is what a client pod needs if all its processes receive a response at the same time.
func (k fetch) memory(l spec.Load) int64 {
	response := int64(k.settings.ParameterBytes)
	if k.settings.Layout != spec.LayoutFragmented {
		response *= int64(k.settings.ParametersPerProcess)
	}
	bytes := int64(l.Clients) * response
	if !l.Transport.Loops() {
		bytes += int64(l.Connections) * connectionBytes
	}
	return bytes / int64(max(l.Pods, 1))
}

func (fetch) words() Words {
	return Words{Done: "PROCESSES", Rate: "PROCESSES PER SECOND", Succeeded: true}
}
