package results

import "github.com/etcdbench/etcd-benchmark-operator/internal/text"

// Examples have, for an error code, the message of one failure. It is short and printable, because it can come from any
// server or proxy.
type Examples map[string]string

// The most bytes of an example, and the most codes that have one.
const (
	maxExample  = 200
	MaxExamples = 32
)

// Add keeps the message as the example of an error code, unless there is one.
func (e *Examples) Add(code, message string) {
	if message == "" || (*e)[code] != "" || len(*e) == MaxExamples {
		return
	}
	if *e == nil {
		*e = Examples{}
	}
	(*e)[code] = text.Shorten(message, maxExample)
}
