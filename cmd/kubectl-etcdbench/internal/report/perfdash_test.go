package report

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

// A suite has the figures of the members of each cell, if their runs are known; a run has its own, and a schedule none.
func TestPerfdashOfADocument(t *testing.T) {
	type item struct {
		Data   map[string]float64
		Labels map[string]string
	}
	items := func(d *Document) (all []item) {
		data, err := Perfdash(d)
		if err != nil {
			t.Fatal(err)
		}
		var out struct{ DataItems []item }
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		return out.DataItems
	}
	flushes := func(cell string) func(item) bool {
		return func(i item) bool {
			return i.Labels["Metric"] == "EtcdWalFsyncDuration" && i.Labels["Member"] == "1" && i.Labels["Cell"] == cell && i.Data["Perc99"] == 0.0075
		}
	}
	known := compared(t, 3, 1.5)
	unknown := OfSuite(known.Suite, nil)
	for _, cell := range []string{"old", "new"} {
		if !slices.ContainsFunc(items(known), flushes(cell)) || slices.ContainsFunc(items(unknown), flushes(cell)) {
			t.Errorf("the cell %s has flushes without its run, or none with it", cell)
		}
	}
	memory := func(i item) bool { return i.Labels["Metric"] == "Memory" && i.Labels["Cell"] == "old" }
	bytes := []int64{30e6, 0, 50e6}
	for i, r := range unknown.Suite.Status.Results {
		unknown.Suite.Status.Results[i].ServerMemoryBytes = bytes[r.Round-1]
	}
	// The memory of a round may be unknown.
	if all := items(unknown); !slices.ContainsFunc(all, memory) || all[slices.IndexFunc(all, memory)].Data["Average"] != 40 {
		t.Errorf("wanted a memory of 40 MB, found %v", all)
	}
	if run := OfRun(measured(t, "one", time.Millisecond).Object, nil); !slices.ContainsFunc(items(run), flushes("")) {
		t.Error("a run has no flushes")
	}
	if _, err := Perfdash(OfSchedule(nightly(3))); err == nil {
		t.Error("a schedule has a form for perfdash")
	}
}
