package v1alpha1_test

import "testing"

func TestValuesAreAccepted(t *testing.T) {
	wantAccepted(t, map[string]edit{
		"zeros":             {"spec.workload.put", `{values: {content: Zero}}`},
		"compressible":      {"spec.workload.put", `{values: {content: Compressible, randomPercent: 50, minSizeBytes: 256}}`},
		"of any length":     {"spec.workload", `{type: Mixed, mixed: {readPercent: 1, values: {minSizeBytes: 0}}}`},
		"to be read":        {"spec.workload", `{type: Range, range: {values: {sizeBytes: 10, content: Random, minSizeBytes: 10}}}`},
		"by doublings":      {"spec.workload.put", `{values: {minSizeBytes: 1, sizeDistribution: LogUniform}}`},
		"evenly":            {"spec.workload.put", `{values: {minSizeBytes: 0, sizeDistribution: Uniform}}`},
		"in transactions":   {"spec.workload", `{type: Txn, txn: {putsPerTransaction: 2, values: {content: Zero, minSizeBytes: 256, sizeDistribution: LogUniform}}}`},
		"to be swapped":     {"spec.workload", `{type: Txn, txn: {mode: CompareAndSwap, values: {content: Compressible, randomPercent: 1}}}`},
		"of STM":            {"spec.workload", `{type: STM, stm: {values: {content: Zero, minSizeBytes: 256, sizeDistribution: LogUniform}}}`},
		"beside a history":  {"spec.workload", `{type: WatchGet, watchGet: {values: {content: Zero, minSizeBytes: 256, sizeDistribution: LogUniform}}}`},
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
		"least beyond most":     {edit{"spec.workload.put", `{values: {sizeBytes: 10, minSizeBytes: 11}}`}, "values.minSizeBytes must not be greater than values.sizeBytes"},
		"least beyond a read":   {edit{"spec.workload", `{type: Range, range: {values: {minSizeBytes: 257}}}`}, "values.minSizeBytes must not be greater"},
		"least beyond a mix":    {edit{"spec.workload", `{type: Mixed, mixed: {readPercent: 1, values: {minSizeBytes: 257}}}`}, "values.minSizeBytes must not be greater"},
		"least beyond deletion": {deletion(`{values: {minSizeBytes: 257}}`, `{requests: 10}`), "values.minSizeBytes must not be greater"},
		"least beyond a txn":    {edit{"spec.workload", `{type: Txn, txn: {putsPerTransaction: 1, values: {minSizeBytes: 257}}}`}, "values.minSizeBytes must not be greater"},
		"least beyond STM":      {edit{"spec.workload", `{type: STM, stm: {values: {minSizeBytes: 257}}}`}, "values.minSizeBytes must not be greater"},
		"least beyond history":  {edit{"spec.workload", `{type: WatchGet, watchGet: {values: {minSizeBytes: 257}}}`}, "values.minSizeBytes must not be greater"},
		"unknown sizes":         {edit{"spec.workload.put", `{values: {minSizeBytes: 1, sizeDistribution: Zipf}}`}, `supported values: "Uniform", "LogUniform"`},
		"doublings of nothing":  {edit{"spec.workload.put", `{values: {minSizeBytes: 0, sizeDistribution: LogUniform}}`}, "must be set to at least 1 for values.sizeDistribution LogUniform"},
		"doublings, unsaid":     {edit{"spec.workload", `{type: STM, stm: {values: {sizeDistribution: LogUniform}}}`}, "must be set to at least 1 for values.sizeDistribution LogUniform"},
		"less than nothing":     {edit{"spec.workload.put", `{values: {minSizeBytes: -1}}`}, "greater than or equal to 0"},
	})
}
