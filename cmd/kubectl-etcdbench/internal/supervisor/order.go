package supervisor

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
)

// order is what the plugin tells the supervisor: one line of JSON.
type order struct {
	// Dir is a folder for the data of the members. The supervisor makes and removes it.
	Dir string
	// Program is started once for each of Members.
	Program string
	Members []ephemeral.Process
	// Store is what the members are.
	Store spec.Datastore
}

// event is what the supervisor tells the plugin: a line of JSON. It has one of the fields.
type event struct {
	// Started are the process IDs of the members.
	Started []int `json:",omitempty"`
	// Failed is why no member was started.
	Failed string `json:",omitempty"`
	Ended  *Ended `json:",omitempty"`
	// Said are lines of logs that can explain the course of a run.
	Said []said `json:",omitempty"`
}

// said are the lines of one kind that a member wrote to its log within a moment.
type said struct {
	Member int
	Kind   spec.LogKind
	// Lines are by time. Only the first have their text.
	Lines []Line
}

// Line is a line of a log, and when it was read.
type Line struct {
	At   time.Time
	Text string `json:",omitempty"`
}

// Ended is a member whose process has ended.
type Ended struct {
	Member int
	// How is its exit status or its signal, Words what its log says last.
	How, Words string
}
