package benchmark

import (
	"bytes"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestAttemptsAreShownForEachCommit(t *testing.T) {
	for name, tc := range map[string]struct {
		attempts, succeeded uint64
		want                int64
		text                string
	}{
		"each committed at once": {40, 40, 1000, "STM attempts per commit: 1.000"},
		"some were tried again":  {100, 30, 3333, "STM attempts per commit: 3.333"},
		"nothing to try again":   {0, 40, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := putRun()
			b.Status.Summary = Summary(b, results.Summary{Operations: []results.OperationSummary{
				{Operation: results.OperationSTM, Succeeded: tc.succeeded, Attempts: tc.attempts},
			}})
			if op := b.Status.Summary.Operations[0]; op.AttemptsPerThousandCommits != tc.want || op.Attempts != int64(tc.attempts) || op.Operation != v1alpha1.OperationSTM {
				t.Errorf("got %+v, wanted %d attempts per thousand commits", op, tc.want)
			}
			var out bytes.Buffer
			if err := WriteTable(&out, b, nil); err != nil {
				t.Fatal(err)
			}
			if shown := strings.Contains(out.String(), "attempts per commit"); shown != (tc.text != "") || !strings.Contains(out.String(), tc.text) {
				t.Errorf("the table does not say %q:\n%s", tc.text, out.String())
			}
		})
	}
}
