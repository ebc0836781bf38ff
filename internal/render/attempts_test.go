package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

func TestAttemptsAreShownForEachCommit(t *testing.T) {
	for name, tc := range map[string]struct {
		attempts, succeeded uint64
		want                spec.Decimal
		text                string
	}{
		"each committed at once": {40, 40, "1", "STM attempts per commit: 1.000"},
		"some were tried again":  {100, 30, "3.333", "STM attempts per commit: 3.333"},
		"nothing to try again":   {0, 40, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts()
			b.Status.Summary = benchmark.Summary(b, results.Summary{Merged: &results.Snapshot{}, Operations: []results.OperationSummary{
				{Operation: spec.OperationSTM, Succeeded: tc.succeeded, Attempts: tc.attempts},
			}})
			if op := b.Status.Summary.Operations[0]; op.AttemptsPerCommit != tc.want || op.Attempts != int64(tc.attempts) || op.Operation != spec.OperationSTM {
				t.Errorf("got %+v, wanted %q attempts per commit", op, tc.want)
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

func TestBodiesAreShownIfTheyWereCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		bodies results.Bodies
		want   string
	}{
		"counted":     {results.Bodies{Sent: 351_400, Received: 24_150}, "Bodies of MEASURED: 351,400 bytes sent and 24,150 received, on average 1,757 and 120 per request."},
		"not counted": {results.Bodies{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, s := runtest.Puts(), results.Summarize([]*results.Snapshot{runtest.Measured(0, 200)})
			s.Merged.Bodies = tc.bodies
			b.Status.Summary = benchmark.Summary(b, s)
			var out bytes.Buffer
			if err := WriteTable(&out, b, nil); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(out.String()), " ")
			if !strings.Contains(text, tc.want) || strings.Contains(text, "Bodies") != (tc.want != "") {
				t.Errorf("the table does not say %q:\n%s", tc.want, text)
			}
		})
	}
}
