package v1alpha1_test

import "testing"

func TestAdmissionAcceptsWatchGet(t *testing.T) {
	for name, workload := range map[string]string{
		"the defaults":      `{type: WatchGet, watchGet: {}}`,
		"as many as can be": `{type: WatchGet, watchGet: {streams: 10, watchersPerStream: 10000, events: 10000}}`,
		"carriers":          `{type: WatchGet, watchGet: {streams: 4, connections: 4}}`,
		"one of everything": `{type: WatchGet, watchGet: {streams: 1, watchersPerStream: 1, events: 1, values: {sizeBytes: 0}, keys: {count: 1}}}`,
	} {
		t.Run(name, func(t *testing.T) { wantTaken(t, edit{"spec.workload", workload}) })
	}
}

func TestAdmissionRejectsWatchGet(t *testing.T) {
	for name, tc := range map[string]struct{ workload, want string }{
		"no field":           {`{type: WatchGet}`, "needs the field watchGet and no other"},
		"a second field":     {`{type: Put, put: {}, watchGet: {}}`, "needs the field put and no other"},
		"idle carriers":      {`{type: WatchGet, watchGet: {streams: 4, connections: 5}}`, "watchGet.connections: Invalid value: must be at most watchGet.streams (4, default 10), found 5"},
		"no stream":          {`{type: WatchGet, watchGet: {streams: 0}}`, "greater than or equal to 1"},
		"no watcher":         {`{type: WatchGet, watchGet: {watchersPerStream: 0}}`, "greater than or equal to 1"},
		"too many watchers":  {`{type: WatchGet, watchGet: {streams: 10, watchersPerStream: 10001}}`, "streams (10, default 10) times watchersPerStream (10001, default 100) must be at most 100000"},
		"no event":           {`{type: WatchGet, watchGet: {events: 0}}`, "greater than or equal to 1"},
		"too many events":    {`{type: WatchGet, watchGet: {events: 10001}}`, "less than or equal to 10000"},
		"values too long":    {`{type: WatchGet, watchGet: {values: {sizeBytes: 10480001}}}`, "values.sizeBytes: Invalid value: must be at most 10480000"},
		"keys that are long": {`{type: WatchGet, watchGet: {keys: {count: 11, sizeBytes: 1}}}`, "raise sizeBytes or lower count"},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, edit{"spec.workload", tc.workload}) })
	}
	t.Run("over Fast", func(t *testing.T) {
		wantRefused(t, "spec.load.transport: Invalid value: must be Client", edit{"spec.workload", `{type: WatchGet, watchGet: {}}`}, edit{"spec.load.transport", `Fast`})
	})
	for field, workload := range map[string]string{
		"streams":     `{type: WatchGet, watchGet: {streams: 1}}`,
		"connections": `{type: WatchGet, watchGet: {connections: 1}}`,
		"keys.count":  `{type: WatchGet, watchGet: {keys: {count: 1}}}`,
	} {
		t.Run("a pod without its share of "+field, func(t *testing.T) {
			wantRefused(t, "spec.workload.watchGet."+field+": Invalid value", edit{"spec.workload", workload}, edit{"spec.load.pods", `2`})
		})
	}
}
