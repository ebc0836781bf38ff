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
		"defaults":          {"spec.workload.put", `{values: {}}`},
		"to be deleted too": deletion(`{values: {content: Zero}}`, `{requests: 10}`),
	})
}

func TestValuesAreRejected(t *testing.T) {
	wantRejected(t, map[string]rejection{
		"an unknown content":     {edit{"spec.workload.put", `{values: {content: Text}}`}, `supported values: "Random", "Zero", "Compressible"`},
		"compressible, no share": {edit{"spec.workload.put", `{values: {content: Compressible}}`}, "values.randomPercent: Invalid value: must be set for content Compressible"},
		"zeros, partly random":   {edit{"spec.workload.put", `{values: {content: Zero, randomPercent: 5}}`}, "values.randomPercent: Invalid value: is only for content Compressible: remove it"},
		"all random":             {edit{"spec.workload.put", `{values: {content: Compressible, randomPercent: 100}}`}, "less than or equal to 99"},
		"all zero":               {edit{"spec.workload.put", `{values: {content: Compressible, randomPercent: 0}}`}, "greater than or equal to 1"},
		"least beyond most":      {edit{"spec.workload.put", `{values: {sizeBytes: 10, minSizeBytes: 11}}`}, "values.minSizeBytes: Invalid value: must be at most sizeBytes (10, default 256), found 11"},
		"least beyond a read":    {edit{"spec.workload", `{type: Range, range: {values: {minSizeBytes: 257}}}`}, "values.minSizeBytes: Invalid value: must be at most sizeBytes (256, default 256), found 257"},
		"least beyond a mix":     {edit{"spec.workload", `{type: Mixed, mixed: {readPercent: 1, values: {minSizeBytes: 257}}}`}, "values.minSizeBytes: Invalid value: must be at most sizeBytes (256, default 256), found 257"},
		"least beyond deletion":  {deletion(`{values: {minSizeBytes: 257}}`, `{requests: 10}`), "values.minSizeBytes: Invalid value: must be at most sizeBytes (256, default 256), found 257"},
		"least beyond a txn":     {edit{"spec.workload", `{type: Txn, txn: {putsPerTransaction: 1, values: {minSizeBytes: 257}}}`}, "values.minSizeBytes: Invalid value: must be at most sizeBytes (256, default 256), found 257"},
		"least beyond STM":       {edit{"spec.workload", `{type: STM, stm: {values: {minSizeBytes: 257}}}`}, "values.minSizeBytes: Invalid value: must be at most sizeBytes (256, default 256), found 257"},
		"least beyond history":   {edit{"spec.workload", `{type: WatchGet, watchGet: {values: {minSizeBytes: 257}}}`}, "values.minSizeBytes: Invalid value: must be at most sizeBytes (256, default 256), found 257"},
		"unknown sizes":          {edit{"spec.workload.put", `{values: {minSizeBytes: 1, sizeDistribution: Zipf}}`}, `supported values: "Uniform", "LogUniform"`},
		"doublings of 0":         {edit{"spec.workload.put", `{values: {minSizeBytes: 0, sizeDistribution: LogUniform}}`}, "values.minSizeBytes: Invalid value: must be at least 1 for sizeDistribution LogUniform"},
		"doublings, no minimum":  {edit{"spec.workload", `{type: STM, stm: {values: {sizeDistribution: LogUniform}}}`}, "values.minSizeBytes: Invalid value: must be at least 1 for sizeDistribution LogUniform"},
		"a negative length":      {edit{"spec.workload.put", `{values: {minSizeBytes: -1}}`}, "greater than or equal to 0"},
	})
}
