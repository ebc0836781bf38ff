package benchmark

import "github.com/etcdbench/etcd-benchmark-operator/internal/results"

// What the schema of status admits at most. It counts the characters of a text,
// and results.Shorten its bytes, which are no fewer.
const (
	maxOperations = 16
	maxCalls      = 16
	maxErrorCodes = 32
	maxWarnings   = 16

	maxWarning = 512
	// maxMessage is of the reason of a member, an objective's, and a piece of
	// evidence.
	maxMessage    = 512
	maxGuardText  = 256
	maxMarkMember = 64
	// MaxPodMessage is of status.pods[].message.
	MaxPodMessage = 1024
)

// AppendWarning adds a warning to those of a summary. It takes the place of the
// last one if there is room for no more.
func AppendWarning(warnings []string, warning string) []string {
	return append(warnings[:min(len(warnings), maxWarnings-1)], results.Shorten(warning, maxWarning))
}

func boundedWarnings(warnings []string) []string {
	var out []string
	for _, w := range warnings[:min(len(warnings), maxWarnings)] {
		out = append(out, results.Shorten(w, maxWarning))
	}
	return out
}
