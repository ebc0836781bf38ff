package v1alpha1_test

import "testing"

func TestAdmissionAcceptsSTM(t *testing.T) {
	for name, workload := range map[string]string{
		"the defaults":               `{type: STM, stm: {}}`,
		"all of it":                  `{type: STM, stm: {isolation: ReadCommitted, keysPerTransaction: 3, writePercent: 0, locker: LockRPC, keys: {count: 3, sizeBytes: 4}, values: {sizeBytes: 0}}}`,
		"a mutex":                    `{type: STM, stm: {isolation: RepeatableReads, locker: LockClient}}`,
		"as many keys as can":        `{type: STM, stm: {isolation: Serializable, keysPerTransaction: 10000, writePercent: 100}}`,
		"as many comparisons as can": `{type: STM, stm: {keysPerTransaction: 64, writePercent: 100}}`,
		"as much as fits":            `{type: STM, stm: {keysPerTransaction: 10, values: {sizeBytes: 156256}}}`,
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edit{"spec.workload", workload}) })
	}
	t.Run("an objective", func(t *testing.T) {
		wantTaken(t, edit{"spec.workload", `{type: STM, stm: {}}`},
			edit{"spec.objectives", `[{name: a, type: Latency, latency: {operation: STM, statistic: P99, maxMicroseconds: 1}}]`})
	})
}

func TestAdmissionRejectsSTM(t *testing.T) {
	for name, tc := range map[string]struct{ workload, want string }{
		"no field":              {`{type: STM}`, "needs the field stm and no other"},
		"a second field":        {`{type: Put, put: {}, stm: {}}`, "needs the field put and no other"},
		"an unknown isolation":  {`{type: STM, stm: {isolation: Snapshot}}`, `supported values: "SerializableSnapshot", "Serializable", "RepeatableReads", "ReadCommitted"`},
		"an unknown locker":     {`{type: STM, stm: {locker: stm}}`, `supported values: "None", "LockClient", "LockRPC"`},
		"no keys":               {`{type: STM, stm: {keysPerTransaction: 0}}`, "greater than or equal to 1"},
		"too many keys":         {`{type: STM, stm: {isolation: Serializable, keysPerTransaction: 10001}}`, "less than or equal to 10000"},
		"too many comparisons":  {`{type: STM, stm: {keysPerTransaction: 9999, writePercent: 1}}`, "stm.keysPerTransaction: Invalid value: with isolation SerializableSnapshot (the default), keys read plus keys written (writePercent, default 50) must be at most 10000"},
		"more than all written": {`{type: STM, stm: {writePercent: 101}}`, "less than or equal to 100"},
		"more keys than are":    {`{type: STM, stm: {keysPerTransaction: 8, keys: {count: 7}}}`, "must be at most stm.keys.count (7), found 8"},
		"too long a request":    {`{type: STM, stm: {keysPerTransaction: 10, values: {sizeBytes: 1047457}}}`, "do not fit into one request of 10 MiB"},
		"keys that are long":    {`{type: STM, stm: {keys: {count: 11, sizeBytes: 1}}}`, "raise sizeBytes or lower count"},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, edit{"spec.workload", tc.workload}) })
	}
	t.Run("over Fast", func(t *testing.T) {
		wantRefused(t, "spec.load.transport: Invalid value: must be Client", edit{"spec.workload", `{type: STM, stm: {}}`}, edit{"spec.load.transport", `Fast`})
	})
}
