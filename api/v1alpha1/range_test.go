package v1alpha1_test

import "testing"

func TestReadsAreAccepted(t *testing.T) {
	wantAccepted(t, map[string]edit{
		"a page":            {"spec.workload", `{type: Range, range: {keysPerRequest: 10, limit: 9, keysOnly: true, keys: {count: 10}}}`},
		"a count":           {"spec.workload", `{type: Range, range: {keysPerRequest: 1000000, countOnly: true, keys: {count: 1000000}}}`},
		"a key alone":       {"spec.workload", `{type: Range, range: {keysOnly: true}}`},
		"a great response":  {"spec.workload", `{type: Range, range: {keysPerRequest: 86184, keys: {count: 100000}}}`},
		"a listing":         {"spec.workload", `{type: Range, range: {keysPerRequest: 10, delivery: Pages, keysPerPage: 9, keysOnly: true, keys: {count: 10}}}`},
		"a great listing":   {"spec.workload", `{type: Range, range: {keysPerRequest: 1000000, delivery: Pages, keysPerPage: 500, values: {sizeBytes: 1024}, keys: {count: 1000000}}}`},
		"a stream":          {"spec.workload", `{type: Range, range: {keysPerRequest: 1000000, delivery: Stream, consistency: Serializable, keys: {count: 1000000}}}`},
		"a limit on values": {"spec.workload", `{type: Range, range: {keysPerRequest: 1000, limit: 4, values: {sizeBytes: 10480000}, keys: {count: 1000}}}`},
	})
}

func TestReadsAreRejected(t *testing.T) {
	wantRejected(t, map[string]rejection{
		"more keys than there are":   {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 11, keys: {count: 10}}}`}, "range.keysPerRequest: Invalid value: must be at most range.keys.count (10, default 1), found 11"},
		"a limit of all keys":        {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, limit: 10, keys: {count: 10}}}`}, "must be less than keysPerRequest (10, default 1), found 10, which limits nothing"},
		"a limit on one key":         {edit{"spec.workload", `{type: Range, range: {limit: 1, keys: {count: 10}}}`}, "must be less than keysPerRequest (1, default 1), found 1, which limits nothing"},
		"a count with keys":          {edit{"spec.workload", `{type: Range, range: {keysOnly: true, countOnly: true}}`}, "a count comes without keys"},
		"a count with a limit":       {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 2, limit: 1, countOnly: true, keys: {count: 2}}}`}, "a count comes without keys"},
		"a response too great":       {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 86185, keys: {count: 100000}}}`}, "more than 48 MiB"},
		"a hot spot of all keys":     {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, keys: {count: 10, distribution: HotSpot, hotSpot: {keysPerMillion: 1000, requestsPerMillion: 1000}}}}`}, "requests that read all keys cannot choose among them"},
		"pages of no size":           {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, delivery: Pages, keys: {count: 10}}}`}, "range.keysPerPage: Invalid value: must be set for delivery Pages"},
		"a size without pages":       {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, keysPerPage: 5, keys: {count: 10}}}`}, "range.keysPerPage: Invalid value: is only for delivery Pages: remove it"},
		"a stream in pages":          {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, delivery: Stream, keysPerPage: 5, keys: {count: 10}}}`}, "range.keysPerPage: Invalid value: is only for delivery Pages: remove it"},
		"one page":                   {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, delivery: Pages, keysPerPage: 10, keys: {count: 10}}}`}, "must be less than keysPerRequest (10, default 1), found 10, which makes only one page"},
		"a limit on pages":           {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, delivery: Pages, keysPerPage: 5, limit: 5, keys: {count: 10}}}`}, "must be Whole with countOnly or limit"},
		"a stream of a count":        {edit{"spec.workload", `{type: Range, range: {countOnly: true, delivery: Stream}}`}, "must be Whole with countOnly or limit"},
		"a page too great":           {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 90000, delivery: Pages, keysPerPage: 86185, keys: {count: 100000}}}`}, "more than 48 MiB"},
		"an unknown delivery":        {edit{"spec.workload", `{type: Range, range: {delivery: Mail}}`}, `"Whole", "Pages", "Stream"`},
		"a request of no keys":       {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 0}}`}, "greater than or equal to 1"},
		"a limit of no keys":         {edit{"spec.workload", `{type: Range, range: {keysPerRequest: 2, limit: 0, keys: {count: 2}}}`}, "greater than or equal to 1"},
		"keys that do not fit in it": {edit{"spec.workload", `{type: Range, range: {keys: {count: 11, sizeBytes: 1}}}`}, "keys.sizeBytes: Invalid value: must be long enough for the decimal number count - 1 (10), found 1 (default 8)"},
	})
}

func TestListingsNeedClient(t *testing.T) {
	for _, delivery := range []string{"delivery: Pages, keysPerPage: 5", "delivery: Stream"} {
		workload := edit{"spec.workload", `{type: Range, range: {keysPerRequest: 10, ` + delivery + `, keys: {count: 10}}}`}
		wantRefused(t, "load.transport: Invalid value: must be Client for this workload of type Range", workload, edit{"spec.load.transport", `Fast`})
	}
}

// deletion is a spec with this workload.delete and load.
func deletion(workload, load string) edit {
	return edit{"spec", `{target: {endpoints: ["127.0.0.1:2379"]}, workload: {type: Delete, delete: ` + workload + `}, load: ` + load + `}`}
}

func TestDeletionsAreAccepted(t *testing.T) {
	wantAccepted(t, map[string]edit{
		"by default":    deletion(`{}`, `{requests: 100000}`),
		"some":          deletion(`{keys: {count: 1000, distribution: Uniform}}`, `{requests: 10, rate: {perSecond: 5}}`),
		"all at a pace": deletion(`{keys: {count: 10}}`, `{requests: 10, rate: {perSecond: 5, arrival: Poisson}}`),
	})
}

func TestDeletionsAreRejected(t *testing.T) {
	wantRejected(t, map[string]rejection{
		"more than keys":       {deletion(`{keys: {count: 10}}`, `{requests: 11}`), "load.requests: Invalid value: must be set for workload.type Delete, to at most delete.keys.count (10, default 100000)"},
		"for a time":           {deletion(`{}`, `{durationSeconds: 1}`), "load.requests: Invalid value: must be set for workload.type Delete, to at most delete.keys.count (100000, default 100000)"},
		"in stages":            {deletion(`{}`, `{rate: {stages: [{perSecond: 1, seconds: 1}]}}`), "load.requests: Invalid value: must be set for workload.type Delete, to at most delete.keys.count (100000, default 100000)"},
		"after a warm-up":      {deletion(`{}`, `{requests: 10, warmupSeconds: 1}`), "load.warmupSeconds: Invalid value: must be 0 for workload.type Delete"},
		"by Zipf's law":        {deletion(`{keys: {count: 10, distribution: Zipf, zipf: {}}}`, `{requests: 10}`), "each key can be deleted only once"},
		"a value too great":    {deletion(`{values: {sizeBytes: 10480001}}`, `{requests: 10}`), "values.sizeBytes: Invalid value: must be at most 10480000"},
		"keys that do not fit": {deletion(`{keys: {count: 11, sizeBytes: 1}}`, `{requests: 10}`), "keys.sizeBytes: Invalid value: must be long enough for the decimal number count - 1 (10), found 1 (default 8)"},
		"without its field":    {edit{"spec.workload", `{type: Delete}`}, "needs the field delete and no other"},
		"of another type":      {edit{"spec.workload", `{type: Put, put: {}, delete: {}}`}, "needs the field put and no other"},
	})
}
