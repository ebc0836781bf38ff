package process

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The groups of nested-version2; the outer one has a quota.
const (
	outerGroup = "sys/fs/cgroup/batch.slice"
	innerGroup = outerGroup + "/load.service"
)

// The files of pod-version1 and host-version1 were recorded in a pod and beside
// one; those of version 2 follow the kernel's documentation.
func TestReadGroup(t *testing.T) {
	tests := map[string]group{
		"pod-version1":    {throttled: throttling{"sys/fs/cgroup/cpu": 1_358_909_590}, quota: 0.5},
		"host-version1":   {throttled: throttling{"sys/fs/cgroup/cpu": 0}},
		"pod-version2":    {throttled: throttling{"sys/fs/cgroup": 3_480_121 * time.Microsecond}, quota: 2},
		"nested-version2": {throttled: throttling{"sys/fs/cgroup": 0, innerGroup: 0, outerGroup: 1_250_000 * time.Microsecond}, quota: 0.5},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join("testdata", name)
			got, err := readGroup(root, "self")
			wantThrottled := throttling{}
			for dir, throttled := range want.throttled {
				wantThrottled[filepath.Join(root, dir)] = throttled
			}
			if err != nil || got.quota != want.quota || !maps.Equal(got.throttled, wantThrottled) {
				t.Errorf("got %+v and the error %v, wanted %+v", got, err, want)
			}
		})
	}
}

// The throttling of an inner group counts even if its parent was throttled for longer before the window.
func TestThrottlingIsTheLargestIncreaseOfAnyGroup(t *testing.T) {
	throttled := func(outer, inner string) map[string]string {
		return map[string]string{
			outerGroup + "/cpu.stat": "throttled_usec " + outer + "\n",
			innerGroup + "/cpu.stat": "throttled_usec " + inner + "\n",
		}
	}
	for name, tc := range map[string]struct {
		outer, inner string
		want         float64
	}{
		"inside":  {"9000000", "2500000", 2},
		"around":  {"9250000", "500000", 0.25},
		"both":    {"9250000", "1000000", 0.5},
		"neither": {"9000000", "500000", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := Meter{root: copyOf(t, "nested-version2", throttled("9000000", "500000"))}
			m.Begin()
			change(t, m.root, throttled(tc.outer, tc.inner))
			m.End()
			if got, known := m.Window().Value(results.ProcessThrottledSeconds); !known || got != tc.want {
				t.Errorf("throttled for %v s (%v), wanted %v s", got, known, tc.want)
			}
		})
	}
}

// copyOf copies recorded files, with some changed; an empty text removes one.
func copyOf(t *testing.T, recorded string, changes map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", recorded))); err != nil {
		t.Fatal(err)
	}
	change(t, root, changes)
	return root
}

func change(t *testing.T, root string, changes map[string]string) {
	t.Helper()
	for path, text := range changes {
		path = filepath.Join(root, path)
		err := os.WriteFile(path, []byte(text), 0o600)
		if text == "" {
			err = os.Remove(path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnreadableFilesAreErrors(t *testing.T) {
	tests := map[string]struct {
		recorded string
		change   map[string]string
	}{
		"no group":             {"pod-version1", map[string]string{"proc/self/cgroup": ""}},
		"no group for CPU":     {"pod-version1", map[string]string{"proc/self/cgroup": "8:pids:/a\n"}},
		"no mounts":            {"pod-version1", map[string]string{"proc/self/mountinfo": ""}},
		"not mounted":          {"pod-version1", map[string]string{"proc/self/mountinfo": "1 2 0:3 / / rw - ext4 root rw\n"}},
		"another group":        {"pod-version1", map[string]string{"proc/self/cgroup": "1:cpu:/elsewhere\n"}},
		"outside of the mount": {"pod-version2", map[string]string{"proc/self/cgroup": "0::/../other\n"}},
		"no numbers":           {"pod-version1", map[string]string{"sys/fs/cgroup/cpu/cpu.stat": ""}},
		"no quota":             {"pod-version1", map[string]string{"sys/fs/cgroup/cpu/cpu.cfs_quota_us": ""}},
		"a quota in words":     {"pod-version1", map[string]string{"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "half"}},
		"throttled in words":   {"pod-version2", map[string]string{"sys/fs/cgroup/cpu.stat": "throttled_usec much\n"}},
		"half a maximum":       {"pod-version2", map[string]string{"sys/fs/cgroup/cpu.max": "100000\n"}},
		"a maximum in words":   {"pod-version2", map[string]string{"sys/fs/cgroup/cpu.max": "much 100000\n"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := readGroup(copyOf(t, tc.recorded, tc.change), "self"); err == nil {
				t.Errorf("read %+v", got)
			}
		})
	}
}

func TestThreads(t *testing.T) {
	before, err := readThreads(filepath.Join("testdata", "pod-version1"))
	if err != nil || len(before) != 8 {
		t.Fatalf("read %v and the error %v, wanted eight threads", before, err)
	}
	after := threads{"99": {ran: 5, waited: 30, timeslices: 2}}
	for number, s := range before {
		after[number] = schedule{s.ran + 10, s.waited + 100, s.timeslices + 1}
	}
	delete(after, "19036")
	if got, want := after.since(before), (schedule{75, 730, 9}); got != want {
		t.Errorf("got %+v, wanted %+v of seven threads and a new one", got, want)
	}
	again := threads{"99": {ran: 1, waited: 1, timeslices: 1}}
	if got, want := again.since(after), (schedule{1, 1, 1}); got != want {
		t.Errorf("got %+v of a number that was used again, wanted %+v", got, want)
	}
	if got, err := readThreads(copyOf(t, "host-version1", map[string]string{"proc/self/task/1/schedstat": "none"})); err == nil {
		t.Errorf("read %+v", got)
	}
}

func TestRuntimeReading(t *testing.T) {
	before := runtimeReading{
		counts: []uint64{5, 0, 10, 0}, bounds: []float64{math.Inf(-1), 0, 1e-6, 4e-6, math.Inf(1)},
		collection: 1, idle: 100, total: 110,
	}
	after := before
	after.counts = []uint64{5, 90, 18, 0}
	if got := after.delayP99(before); got != 2*time.Microsecond {
		t.Errorf("got %v, wanted 2 µs, the middle of its bucket", got)
	}
	if got, n := after.delays(before); got.Round(time.Microsecond) != 106*time.Microsecond || n != 98 {
		t.Errorf("got %d delays of %v in total, wanted 90 of 1 µs and 8 of 2 µs", n, got)
	}
	after.counts = []uint64{5, 1000, 18, 0}
	if got := after.delayP99(before); got != time.Microsecond {
		t.Errorf("got %v, wanted 1 µs, the upper end of the first bucket above 0", got)
	}
	after.counts = []uint64{5, 0, 10, 7}
	if got := after.delayP99(before); got != 4*time.Microsecond {
		t.Errorf("got %v, wanted 4 µs, the lower end of the last bucket", got)
	}
	if got := before.delayP99(before); got != 0 {
		t.Errorf("got %v of no delays", got)
	}
	after.collection, after.idle, after.total = 2, 150, 170
	if got, known := after.collectionShare(before); !known || got != 0.1 {
		t.Errorf("got a share of %v (%v), wanted 0.1", got, known)
	}
	if _, known := before.collectionShare(before); known {
		t.Error("got a share although there were no collections")
	}
}

// A part that cannot be read leaves the others known.
func TestWindow(t *testing.T) {
	const thread = "proc/self/task/1/schedstat"
	ofThreads := []results.ProcessFigure{results.ProcessCPUSeconds, results.ProcessThreadDelaySeconds}
	ofGroups := []results.ProcessFigure{results.ProcessThrottledSeconds, results.ProcessQuotaProcessors}
	tests := map[string]struct {
		root string
		// then has the files that change in the window.
		then    map[string]string
		unknown string
		lacks   []results.ProcessFigure
	}{
		"complete":         {copyOf(t, "host-version1", nil), map[string]string{thread: "9000000000 9000000000 9000000\n"}, "", nil},
		"no control group": {copyOf(t, "host-version1", map[string]string{"proc/self/cgroup": ""}), map[string]string{thread: "9000000000 9000000000 9000000\n"}, "control group", ofGroups},
		"not Linux":        {t.TempDir(), nil, "threads", slices.Concat(ofThreads, ofGroups)},
		// Files of a Linux that was built or configured without these counts.
		"a scheduler that counts nothing":                 {copyOf(t, "host-version1", map[string]string{thread: "0 0 0\n"}), nil, "does not count scheduling delays", ofThreads},
		"a scheduler that stops counting":                 {copyOf(t, "host-version1", nil), map[string]string{thread: "0 0 0\n"}, "does not count scheduling delays", ofThreads},
		"a scheduler that counts time and not timeslices": {copyOf(t, "host-version1", map[string]string{thread: "5 5 0\n"}), map[string]string{thread: "9 9 0\n"}, "does not count scheduling delays", ofThreads},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := Meter{root: tc.root}
			m.Begin()
			change(t, m.root, tc.then)
			m.End()
			w := m.Window()
			if (tc.unknown == "") != (w.Unknown == "") || !strings.Contains(w.Unknown, tc.unknown) {
				t.Errorf("unknown is %q, wanted it to name %q", w.Unknown, tc.unknown)
			}
			for _, f := range tc.lacks {
				if v, known := w.Value(f); known {
					t.Errorf("%s is %v, wanted it unknown", f, v)
				}
			}
			if _, known := w.Value(results.ProcessGoroutineDelaySeconds); !known {
				t.Errorf("the runtime's own numbers are missing: %v", w.Figures)
			}
		})
	}
}

// A process that computes uses processor time.
func TestMeterOfThisProcess(t *testing.T) {
	m := NewMeter()
	m.Begin()
	for start := time.Now(); time.Since(start) < 100*time.Millisecond; {
		_ = strings.Repeat("x", 1000)
	}
	m.End()
	w := m.Window()
	used, known := w.Value(results.ProcessCPUSeconds)
	length, _ := w.Value(results.ProcessWindowSeconds)
	if w.Unknown == "" && (!known || used <= 0 || used > 64*length) {
		t.Errorf("used %v s in %v s, wanted some: %v", used, length, w.Figures)
	}
	if length < 0.1 {
		t.Errorf("the window is %v s long, wanted 0.1 s and more", length)
	}
}
