package kubelet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var (
	start   = time.Unix(1_800_000_000, 0)
	minutes = Window{start, start.Add(4 * time.Minute)}
	db      = name{"ns", "db-0"}
)

// pageText has the samples of a pod with a container and its sandbox at a time; more are lines with %d for the time.
func pageText(at time.Time, cpu, received float64, more ...string) string {
	ms := at.UnixMilli()
	const ids = `namespace="ns",pod="db-0"} `
	lines := []string{
		"# TYPE container_cpu_usage_seconds_total counter",
		fmt.Sprintf(`container_cpu_usage_seconds_total{container="",cpu="total",id="/pod",name="",%s%g %d`, ids, 2*cpu, ms),
		fmt.Sprintf(`container_cpu_usage_seconds_total{container="",cpu="total",id="/pod/s",name="s",%s%g %d`, ids, 1000*cpu, ms),
		fmt.Sprintf(`container_cpu_usage_seconds_total{container="db",cpu="total",id="/pod/c",name="c",%s%g %d`, ids, cpu, ms),
		fmt.Sprintf(`container_memory_rss{container="db",id="/pod/c",name="c",%s%g %d`, ids, 100+cpu, ms),
		fmt.Sprintf(`container_memory_rss{container="",id="/pod",name="",%s7 %d`, ids, ms),
		fmt.Sprintf(`container_network_receive_bytes_total{container="",id="/pod/s",interface="eth0",name="s",%s%g %d`, ids, received, ms),
		fmt.Sprintf(`container_network_transmit_bytes_total{container="",id="/pod/s",interface="eth0",name="s",%s%g %d`, ids, 2*received, ms),
		fmt.Sprintf(`container_cpu_usage_seconds_total{container="db",cpu="total",id="/other",name="o",namespace="other",pod="db-0"} 5 %d`, ms),
	}
	for _, line := range more {
		lines = append(lines, fmt.Sprintf(line, ms))
	}
	return strings.Join(lines, "\n") + "\n"
}

func pageOf(t *testing.T, text string) page {
	t.Helper()
	pages, err := parse(strings.NewReader(text), map[name]bool{db: true})
	if err != nil {
		t.Fatal(err)
	}
	return pages[db]
}

func disk(device string, bytes int) string {
	return fmt.Sprintf(`container_fs_writes_bytes_total{container="db",device="%s",id="/pod/c",name="c",namespace="ns",pod="db-0"} %d %%d`, device, bytes)
}

func TestFigures(t *testing.T) {
	before, after := start.Add(-8*time.Second), start.Add(4*time.Minute+2*time.Second)
	const seconds = 250
	all := v1alpha1.KubeletFigures{
		SampledMicroseconds: seconds * 1e6, CPUMillicores: new(int64(200)), RSSBytes: new(int64(160)),
		ReceivedBytesPerSecond: new(int64(1000)), SentBytesPerSecond: new(int64(2000)),
	}
	const noDisk = "disk: the kubelet counted no bytes"

	and := func(change func(*v1alpha1.KubeletFigures)) v1alpha1.KubeletFigures {
		out := all
		change(&out)
		return out
	}
	first, last := pageText(before, 10, 1000), pageText(after, 60, 251_000)
	for what, tc := range map[string]struct {
		before, after string
		host          bool
		want          v1alpha1.KubeletFigures
	}{
		"containers count once, memory is the last": {first, last, false, and(func(f *v1alpha1.KubeletFigures) { f.Unknown = noDisk })},
		"a device and the one below it": {
			pageText(before, 10, 1000, disk("/dev/sda", 500), disk("/dev/dm-0", 400)),
			pageText(after, 60, 251_000, disk("/dev/sda", 25_500), disk("/dev/dm-0", 25_000)), false,
			and(func(f *v1alpha1.KubeletFigures) { f.WrittenBytesPerSecond = new(int64(100)) }),
		},
		"a device that appears": {
			first, pageText(after, 60, 251_000, disk("/dev/sda", 25_000)), false,
			and(func(f *v1alpha1.KubeletFigures) { f.WrittenBytesPerSecond = new(int64(100)) }),
		},
		"the network of the node": {first, last, true, and(func(f *v1alpha1.KubeletFigures) {
			f.Unknown, f.ReceivedBytesPerSecond, f.SentBytesPerSecond = "network: the pod has the network of its node; "+noDisk, nil, nil
		})},
		"a named sandbox": {
			strings.ReplaceAll(first, `container="",id="/pod/s"`, `container="POD",id="/pod/s"`), strings.ReplaceAll(last, `container="",id="/pod/s"`, `container="POD",id="/pod/s"`), false,
			and(func(f *v1alpha1.KubeletFigures) { f.Unknown = noDisk }),
		},
		"the pod alone": {
			withoutContainer(first), withoutContainer(last), false,
			and(func(f *v1alpha1.KubeletFigures) {
				f.Unknown, f.CPUMillicores, f.RSSBytes = noDisk, new(int64(400)), new(int64(7))
			}),
		},
		"no samples":        {"", last, false, absent("the kubelet has no figures of it")},
		"another container": {strings.ReplaceAll(first, `"/pod/c"`, `"/pod/b"`), last, false, absent("a container of the pod ended, or was started, in the window")},
		"a second container": {first, last + strings.ReplaceAll(last, `"/pod/c"`, `"/pod/b"`), false,
			absent("a container of the pod ended, or was started, in the window")},
		"a second container before": {first + strings.ReplaceAll(first, `"/pod/c"`, `"/pod/b"`), last, false,
			absent("a container of the pod ended, or was started, in the window")},
		"a counter that was reset": {pageText(before, 70, 1000), last, false, absent("a container of the pod ended, or was started, in the window")},
		"samples too far apart": {pageText(before.Add(-15*time.Second), 10, 1000), last, false,
			absent("the kubelet's samples are 265s apart, and the window has 240s: more than a tenth off")},
		"samples too close": {pageText(start.Add(time.Minute), 10, 1000), last, false,
			absent("the kubelet's samples are 182s apart, and the window has 240s: more than a tenth off")},
	} {
		t.Run(what, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, figures(pageOf(t, tc.before), pageOf(t, tc.after), minutes, tc.host)); diff != "" {
				t.Errorf("-want +found:\n%s", diff)
			}
		})
	}
}

// withoutContainer is what a kubelet says that does not know the runtime.
func withoutContainer(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `container="db"`) && (!strings.Contains(line, `"/pod/s"`) || strings.Contains(line, "network")) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// A sample without its time cannot be divided by one.
func TestSamplesNeedATime(t *testing.T) {
	text := strings.ReplaceAll(pageText(start, 1, 1), fmt.Sprintf(" %d\n", start.UnixMilli()), "\n")
	if _, err := parse(strings.NewReader(text), map[name]bool{db: true}); err == nil || !strings.Contains(err.Error(), errNoTime.Error()) {
		t.Errorf("wanted %v, found %v", errNoTime, err)
	}
}

// The pages are of a kubelet 1.36 with containerd 1.6 and control groups of version 1, before and after a load on three etcds.
func TestFiguresOfAKubelet(t *testing.T) {
	read := func(file string) page {
		f, err := os.Open(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		of := name{"perf", "etcd-0"}
		pages, err := parse(f, map[name]bool{of: true})
		if err != nil || len(pages) != 1 {
			t.Fatalf("found %d pods, %v", len(pages), err)
		}
		return pages[of]
	}
	w := Window{Start: time.UnixMilli(1795833944000), End: time.UnixMilli(1795834094000)}
	want := v1alpha1.KubeletFigures{
		Unknown: "disk: the kubelet counted no bytes", SampledMicroseconds: 156_903_000, CPUMillicores: new(int64(32)), RSSBytes: new(int64(27_684_864)),
		WorkingSetBytes: new(int64(28_852_224)), ReceivedBytesPerSecond: new(int64(35_940)), SentBytesPerSecond: new(int64(57_695)),
	}
	if diff := cmp.Diff(want, figures(read("before.txt"), read("after.txt"), w, false)); diff != "" {
		t.Errorf("-want +found:\n%s", diff)
	}
}
