package v1alpha1_test

import "testing"

func TestAdmissionAcceptsTransactions(t *testing.T) {
	for name, workload := range map[string]string{
		"one put":               `{type: Txn, txn: {putsPerTransaction: 1}}`,
		"as many puts as can":   `{type: Txn, txn: {mode: Puts, putsPerTransaction: 10000}}`,
		"as much as fits":       `{type: Txn, txn: {putsPerTransaction: 10, values: {sizeBytes: 156664}}}`,
		"a compare-and-swap":    `{type: Txn, txn: {mode: CompareAndSwap}}`,
		"a swap of a big value": `{type: Txn, txn: {mode: CompareAndSwap, values: {sizeBytes: 10480000}}}`,
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edit{"spec.workload", workload}) })
	}
	for name, workload := range map[string]string{
		"puts over Fast":  `{type: Txn, txn: {putsPerTransaction: 1}}`,
		"swaps over Fast": `{type: Txn, txn: {mode: CompareAndSwap}}`,
	} {
		t.Run(name, func(t *testing.T) {
			wantTaken(t, edit{"spec.workload", workload}, edit{"spec.load.transport", `Fast`})
		})
	}
	t.Run("an objective", func(t *testing.T) {
		wantTaken(t, edit{"spec.workload", `{type: Txn, txn: {mode: CompareAndSwap}}`},
			edit{"spec.objectives", `[{name: a, type: Latency, latency: {operation: CompareAndSwap, statistic: P99, maxMicroseconds: 1}}]`})
	})
}

func TestMixturesInTransactions(t *testing.T) {
	wrapped, plain := `{type: Mixed, mixed: {readPercent: 50, inTransaction: true}}`, `{type: Mixed, mixed: {readPercent: 50, inTransaction: false}}`
	wantTaken(t, edit{"spec.workload", wrapped})
	wantTaken(t, edit{"spec.workload", plain}, edit{"spec.load.transport", `Fast`})
	wantRefused(t, "must be Client for this workload of type Mixed", edit{"spec.workload", wrapped}, edit{"spec.load.transport", `Fast`})
}

func TestAdmissionRejectsTransactions(t *testing.T) {
	for name, tc := range map[string]struct{ workload, want string }{
		"no field":           {`{type: Txn}`, "needs the field txn and no other"},
		"a second field":     {`{type: Put, put: {}, txn: {putsPerTransaction: 1}}`, "needs the field put and no other"},
		"an unknown mode":    {`{type: Txn, txn: {mode: Reads}}`, `supported values: "Puts", "CompareAndSwap"`},
		"no number of puts":  {`{type: Txn, txn: {}}`, "txn.putsPerTransaction: Invalid value: must be set for mode Puts"},
		"puts of a swap":     {`{type: Txn, txn: {mode: CompareAndSwap, putsPerTransaction: 1}}`, "txn.putsPerTransaction: Invalid value: is only for mode Puts: remove it"},
		"no puts":            {`{type: Txn, txn: {putsPerTransaction: 0}}`, "greater than or equal to 1"},
		"too many puts":      {`{type: Txn, txn: {putsPerTransaction: 10001}}`, "txn.putsPerTransaction: Invalid value: must be at most 10000"},
		"more puts than key": {`{type: Txn, txn: {putsPerTransaction: 8, keys: {count: 7}}}`, "must be at most txn.keys.count (7), found 8"},
		"too long a request": {`{type: Txn, txn: {putsPerTransaction: 10, values: {sizeBytes: 1047865}}}`, "do not fit into one request of 10 MiB"},
		"too long a value":   {`{type: Txn, txn: {mode: CompareAndSwap, values: {sizeBytes: 10480001}}}`, "values.sizeBytes: Invalid value: must be at most 10480000"},
		"keys that are long": {`{type: Txn, txn: {mode: CompareAndSwap, keys: {count: 11, sizeBytes: 1}}}`, "raise sizeBytes or lower count"},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, edit{"spec.workload", tc.workload}) })
	}
}
