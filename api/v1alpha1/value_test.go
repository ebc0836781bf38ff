package v1alpha1_test

import "testing"

func TestValuesAreAccepted(t *testing.T) {
	wantAccepted(t, map[string]edit{
		"zeros":             {"spec.workload.put", `{values: {content: Zero}}`},
		"compressible":      {"spec.workload.put", `{values: {content: Compressible, randomPercent: 50, minSize: 256}}`},
		"of any length":     {"spec.workload", `{type: Mixed, mixed: {readsPerHundred: 1, values: {minSize: 0}}}`},
		"to be read":        {"spec.workload", `{type: Range, range: {valueSize: 10, values: {content: Random, minSize: 10}}}`},
		"by doublings":      {"spec.workload.put", `{values: {minSize: 1, sizes: LogUniform}}`},
		"evenly":            {"spec.workload.put", `{values: {minSize: 0, sizes: Uniform}}`},
		"in transactions":   {"spec.workload", `{type: Txn, txn: {putsPerTransaction: 2, values: {content: Zero, minSize: 256, sizes: LogUniform}}}`},
		"to be swapped":     {"spec.workload", `{type: Txn, txn: {mode: CompareAndSwap, values: {content: Compressible, randomPercent: 1}}}`},
		"of STM":            {"spec.workload", `{type: STM, stm: {values: {content: Zero, minSize: 256, sizes: LogUniform}}}`},
		"beside a history":  {"spec.workload", `{type: WatchGet, watchGet: {values: {content: Zero, minSize: 256, sizes: LogUniform}}}`},
		"nothing unusual":   {"spec.workload.put", `{values: {}}`},
		"to be deleted too": deletion(`{values: {content: Zero}}`, `{requests: 10}`),
	})
}

func TestValuesAreRejected(t *testing.T) {
	wantRejected(t, map[string]rejection{
		"an unknown content":    {edit{"spec.workload.put", `{values: {content: Text}}`}, `supported values: "Random", "Zero", "Compressible"`},
		"compressible, unsaid":  {edit{"spec.workload.put", `{values: {content: Compressible}}`}, "values.randomPercent must be set if, and only if"},
		"zeros, partly random":  {edit{"spec.workload.put", `{values: {content: Zero, randomPercent: 5}}`}, "values.randomPercent must be set if, and only if"},
		"all random":            {edit{"spec.workload.put", `{values: {content: Compressible, randomPercent: 100}}`}, "less than or equal to 99"},
		"all zero":              {edit{"spec.workload.put", `{values: {content: Compressible, randomPercent: 0}}`}, "greater than or equal to 1"},
		"least beyond most":     {edit{"spec.workload.put", `{valueSize: 10, values: {minSize: 11}}`}, "put.values.minSize must not be greater than put.valueSize"},
		"least beyond a read":   {edit{"spec.workload", `{type: Range, range: {values: {minSize: 257}}}`}, "range.values.minSize must not be greater"},
		"least beyond a mix":    {edit{"spec.workload", `{type: Mixed, mixed: {readsPerHundred: 1, values: {minSize: 257}}}`}, "mixed.values.minSize must not be greater"},
		"least beyond deletion": {deletion(`{values: {minSize: 257}}`, `{requests: 10}`), "delete.values.minSize must not be greater"},
		"least beyond a txn":    {edit{"spec.workload", `{type: Txn, txn: {putsPerTransaction: 1, values: {minSize: 257}}}`}, "txn.values.minSize must not be greater"},
		"least beyond STM":      {edit{"spec.workload", `{type: STM, stm: {values: {minSize: 257}}}`}, "stm.values.minSize must not be greater"},
		"least beyond history":  {edit{"spec.workload", `{type: WatchGet, watchGet: {values: {minSize: 257}}}`}, "watchGet.values.minSize must not be greater"},
		"unknown sizes":         {edit{"spec.workload.put", `{values: {minSize: 1, sizes: Zipf}}`}, `supported values: "Uniform", "LogUniform"`},
		"doublings of nothing":  {edit{"spec.workload.put", `{values: {minSize: 0, sizes: LogUniform}}`}, "must be set to at least 1 for values.sizes LogUniform"},
		"doublings, unsaid":     {edit{"spec.workload", `{type: STM, stm: {values: {sizes: LogUniform}}}`}, "must be set to at least 1 for values.sizes LogUniform"},
		"less than nothing":     {edit{"spec.workload.put", `{values: {minSize: -1}}`}, "greater than or equal to 0"},
	})
}
