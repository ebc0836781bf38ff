package main

import (
	"runtime/debug"
	"testing"
)

func TestTheCollectorIsRelaxedUnlessSomebodySetIt(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for _, tc := range []struct {
		set  string
		want int
	}{{"50", 100}, {"", collectorPercent}} {
		t.Setenv("GOGC", tc.set)
		relaxCollector()
		if got := debug.SetGCPercent(100); got != tc.want {
			t.Errorf("GOGC=%q: got %d, wanted %d", tc.set, got, tc.want)
		}
	}
}
