package v1alpha1_test

import "testing"

func TestKeyOrdersAreAccepted(t *testing.T) {
	wantAccepted(t, map[string]edit{
		"zipf":            {"spec.workload.put", `{keys: {count: 1000, distribution: Zipf, zipf: {exponent: "0.5"}}}`},
		"zipf by default": {"spec.workload.put", `{keys: {count: 1, distribution: Zipf, zipf: {}}}`},
		"a hot spot":      {"spec.workload.put", `{keys: {count: 2, distribution: HotSpot, hotSpot: {keysPerMillion: 1000, requestsPerMillion: 1000000}}}`},
		"zipf reads":      {"spec.workload", `{type: Range, range: {keys: {count: 1000, distribution: Zipf, zipf: {}}}}`},
		"hot reads":       {"spec.workload", `{type: Mixed, mixed: {readPercent: 1, keys: {count: 10, distribution: HotSpot, hotSpot: {keysPerMillion: 999000, requestsPerMillion: 0}}}}`},
		"uniform":         {"spec.workload.put", `{keys: {count: 10, distribution: Uniform}}`},
	})
}

func TestKeyOrdersAreRejected(t *testing.T) {
	wantRejected(t, map[string]rejection{
		"an unknown order":       {edit{"spec.workload.put", `{keys: {count: 10, distribution: Random}}`}, `supported values: "Sequential", "Uniform", "Zipf", "HotSpot"`},
		"zipf without its field": {edit{"spec.workload.put", `{keys: {count: 10, distribution: Zipf}}`}, "zipf: Invalid value: must be set for distribution Zipf, for example {exponent: \"0.99\"}"},
		"zipf of another order":  {edit{"spec.workload.put", `{keys: {count: 10, zipf: {}}}`}, "keys.zipf: Invalid value: is only for distribution Zipf: remove it"},
		"no exponent":            {edit{"spec.workload.put", `{keys: {count: 10, distribution: Zipf, zipf: {exponent: "0"}}}`}, "must be a decimal from 0.001 to 10"},
		"an exponent too great":  {edit{"spec.workload.put", `{keys: {count: 10, distribution: Zipf, zipf: {exponent: "10.001"}}}`}, "must be a decimal from 0.001 to 10"},
		"a hot spot not set":     {edit{"spec.workload.put", `{keys: {count: 10, distribution: HotSpot}}`}, "for example {keysPerMillion: 200000, requestsPerMillion: 800000}"},
		"a hot spot of uniform":  {edit{"spec.workload.put", `{keys: {count: 10, distribution: Uniform, hotSpot: {keysPerMillion: 1000, requestsPerMillion: 1000}}}`}, "keys.hotSpot: Invalid value: is only for distribution HotSpot: remove it"},
		"a hot spot of one key":  {edit{"spec.workload.put", `{keys: {count: 1, distribution: HotSpot, hotSpot: {keysPerMillion: 1000, requestsPerMillion: 1000}}}`}, "keys.count: Invalid value: must be at least 2 for distribution HotSpot"},
		"all keys hot":           {edit{"spec.workload.put", `{keys: {count: 10, distribution: HotSpot, hotSpot: {keysPerMillion: 1000000, requestsPerMillion: 1000}}}`}, "less than or equal to 999"},
		"no key hot":             {edit{"spec.workload.put", `{keys: {count: 10, distribution: HotSpot, hotSpot: {keysPerMillion: 0, requestsPerMillion: 1000}}}`}, "greater than or equal to 1"},
	})
}
