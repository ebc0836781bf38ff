package v1alpha1_test

import "testing"

func TestAdmissionAcceptsWatches(t *testing.T) {
	for name, workload := range map[string]string{
		"the defaults":      `{type: Watch, watch: {}}`,
		"all keys":          `{type: Watch, watch: {scope: AllKeys, prevKV: true, keys: {count: 100}}}`,
		"as many as can be": `{type: Watch, watch: {streams: 10, watchersPerStream: 10000}}`,
		"carriers":          `{type: Watch, watch: {streams: 4, connections: 4}}`,
		"the shortest":      `{type: Watch, watch: {values: {sizeBytes: 16, minSizeBytes: 16}}}`,
		"the longest":       `{type: Watch, watch: {values: {sizeBytes: 10480000}}}`,
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edit{"spec.workload", workload}) })
	}
	t.Run("an objective", func(t *testing.T) {
		wantTaken(t, edit{"spec.workload", `{type: Watch, watch: {}}`}, edit{"spec.objectives", `[
			{name: a, type: Latency, latency: {operation: WatchEvent, statistic: P99, maxMicroseconds: 1}},
			{name: b, type: Latency, latency: {operation: WatchDelivery, statistic: P99, maxMicroseconds: 1}}]`})
	})
}

func TestAdmissionRejectsWatches(t *testing.T) {
	for name, tc := range map[string]struct{ workload, want string }{
		"no field":             {`{type: Watch}`, "needs the field watch and no other"},
		"a second field":       {`{type: Put, put: {}, watch: {}}`, "needs the field put and no other"},
		"an unknown scope":     {`{type: Watch, watch: {scope: Prefix}}`, `supported values: "Key", "AllKeys"`},
		"no stream":            {`{type: Watch, watch: {streams: 0}}`, "greater than or equal to 1"},
		"no watcher":           {`{type: Watch, watch: {watchersPerStream: 0}}`, "greater than or equal to 1"},
		"too many watchers":    {`{type: Watch, watch: {streams: 10, watchersPerStream: 10001}}`, "streams (10, default 10) times watchersPerStream (10001, default 10) must be at most 100000"},
		"idle carriers":        {`{type: Watch, watch: {streams: 4, connections: 5}}`, "watch.connections: Invalid value: must be at most watch.streams (4, default 10), found 5"},
		"values too short":     {`{type: Watch, watch: {values: {sizeBytes: 15}}}`, "must be at least 16"},
		"values too long":      {`{type: Watch, watch: {values: {sizeBytes: 10480001}}}`, "values.sizeBytes: Invalid value: must be at most 10480000"},
		"some too short":       {`{type: Watch, watch: {values: {minSizeBytes: 15}}}`, "at least 16"},
		"longer than they are": {`{type: Watch, watch: {values: {sizeBytes: 20, minSizeBytes: 21}}}`, "minSizeBytes: Invalid value: must be at most sizeBytes (20, default 256), found 21"},
		"keys that are long":   {`{type: Watch, watch: {keys: {count: 11, sizeBytes: 1}}}`, "raise sizeBytes or lower count"},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, edit{"spec.workload", tc.workload}) })
	}
	t.Run("over Fast", func(t *testing.T) {
		wantRefused(t, "spec.load.transport: Invalid value: must be Client", edit{"spec.workload", `{type: Watch, watch: {}}`}, edit{"spec.load.transport", `Fast`})
	})
	t.Run("a pod without a stream", func(t *testing.T) {
		wantRefused(t, "watch.streams: Invalid value: must be at least load.pods (2), found 1 (default 10)", edit{"spec.workload", `{type: Watch, watch: {streams: 1}}`}, edit{"spec.load.pods", `2`})
	})
	t.Run("a carrier for each pod", func(t *testing.T) {
		wantTaken(t, edit{"spec.workload", `{type: Watch, watch: {connections: 2}}`}, edit{"spec.load.pods", `2`}, edit{"spec.load.connections", `2`}, edit{"spec.load.clients", `2`})
	})
	t.Run("a pod without a carrier", func(t *testing.T) {
		wantRefused(t, "watch.connections: Invalid value", edit{"spec.workload", `{type: Watch, watch: {connections: 1}}`}, edit{"spec.load.pods", `2`})
	})
}
