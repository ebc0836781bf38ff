package v1alpha1_test

import "testing"

func TestKeyOrdersAreAccepted(t *testing.T) {
	wantAccepted(t, map[string]edit{
		"zipf":               {"spec.workload.put", `{keys: {count: 1000, order: Zipf, zipf: {exponentThousandths: 500}}}`},
		"zipf by default":    {"spec.workload.put", `{keys: {count: 1, order: Zipf, zipf: {}}}`},
		"a hot spot":         {"spec.workload.put", `{keys: {count: 2, order: HotSpot, hotSpot: {keysPerThousand: 1, requestsPerThousand: 1000}}}`},
		"zipf reads":         {"spec.workload", `{type: Range, range: {keys: {count: 1000, order: Zipf, zipf: {}}}}`},
		"hot reads":          {"spec.workload", `{type: Mixed, mixed: {readsPerHundred: 1, keys: {count: 10, order: HotSpot, hotSpot: {keysPerThousand: 999, requestsPerThousand: 0}}}}`},
		"order is no secret": {"spec.workload.put", `{keys: {count: 10, order: Uniform}}`},
	})
}

func TestKeyOrdersAreRejected(t *testing.T) {
	wantRejected(t, map[string]rejection{
		"an unknown order":       {edit{"spec.workload.put", `{keys: {count: 10, order: Random}}`}, `supported values: "Sequential", "Uniform", "Zipf", "HotSpot"`},
		"zipf without its field": {edit{"spec.workload.put", `{keys: {count: 10, order: Zipf}}`}, "for example {exponentThousandths: 990}"},
		"zipf of another order":  {edit{"spec.workload.put", `{keys: {count: 10, zipf: {}}}`}, "keys.zipf must be set if, and only if, keys.order is Zipf"},
		"no exponent":            {edit{"spec.workload.put", `{keys: {count: 10, order: Zipf, zipf: {exponentThousandths: 0}}}`}, "greater than or equal to 1"},
		"an exponent too great":  {edit{"spec.workload.put", `{keys: {count: 10, order: Zipf, zipf: {exponentThousandths: 10001}}}`}, "less than or equal to 10000"},
		"a hot spot unsaid":      {edit{"spec.workload.put", `{keys: {count: 10, order: HotSpot}}`}, "for example {keysPerThousand: 200, requestsPerThousand: 800}"},
		"a hot spot of uniform":  {edit{"spec.workload.put", `{keys: {count: 10, order: Uniform, hotSpot: {keysPerThousand: 1, requestsPerThousand: 1}}}`}, "keys.hotSpot must be set if, and only if"},
		"a hot spot of one key":  {edit{"spec.workload.put", `{keys: {count: 1, order: HotSpot, hotSpot: {keysPerThousand: 1, requestsPerThousand: 1}}}`}, "needs a keys.count of at least 2"},
		"all keys hot":           {edit{"spec.workload.put", `{keys: {count: 10, order: HotSpot, hotSpot: {keysPerThousand: 1000, requestsPerThousand: 1}}}`}, "less than or equal to 999"},
		"no key hot":             {edit{"spec.workload.put", `{keys: {count: 10, order: HotSpot, hotSpot: {keysPerThousand: 0, requestsPerThousand: 1}}}`}, "greater than or equal to 1"},
	})
}
