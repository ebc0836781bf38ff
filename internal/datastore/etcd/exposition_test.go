package etcd

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// For any two samples, the result can be exported as a metric.
func FuzzExposition(f *testing.F) {
	f.Add([]byte("process_cpu_seconds_total 1e308\nprocess_start_time_seconds NaN\n"), []byte("process_cpu_seconds_total +Inf\n"))
	f.Add([]byte("# TYPE etcd_disk_wal_fsync_duration_seconds histogram\netcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.001\"} 5\n"+
		"etcd_disk_wal_fsync_duration_seconds_sum 1\netcd_disk_wal_fsync_duration_seconds_count 5\n"),
		[]byte("# TYPE etcd_disk_wal_fsync_duration_seconds histogram\netcd_disk_wal_fsync_duration_seconds_bucket{le=\"0.001\"} 9\n"+
			"etcd_disk_wal_fsync_duration_seconds_sum -1\netcd_disk_wal_fsync_duration_seconds_count 9"))
	f.Add([]byte("etcd_server_id{server_id=\"\x00\"} 1\n#\n# TYPE x"), []byte("{} {"))
	f.Fuzz(func(t *testing.T, first, last []byte) {
		var track members.Track
		for i, text := range [][]byte{first, last} {
			e, err := metrics.Parse(text)
			if err != nil {
				return
			}
			track.Add(metrics.Sample(e, time.Unix(int64(i), 0)))
		}
		w := track.Window(time.Unix(0, 0), time.Unix(1, 0))
		for figure, v := range w.Figures {
			if !(v >= 0) || math.IsInf(v, 0) {
				t.Errorf("%s is %v", figure, v)
			}
		}
		if (w.Unknown == "") == (len(w.Figures) == 0) {
			t.Errorf("got %+v, wanted figures or the reason", w)
		}
		_, _ = w.Timing(results.TimerWALFsync)
	})
}

// etcd measures compactions in milliseconds, and everything else in seconds.
func TestCompactionsAreInSeconds(t *testing.T) {
	e, err := metrics.Parse([]byte("# TYPE " + metricCompaction + " histogram\n" +
		metricCompaction + "_bucket{le=\"200\"} 1\n" + metricCompaction + "_sum 150\n" + metricCompaction + "_count 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := members.Histogram{Count: 1, Seconds: 0.15, Buckets: []members.Bucket{{AtMostSeconds: 0.2, Count: 1}}}
	if diff := cmp.Diff(want, metrics.Sample(e, time.Time{}).Timers[results.TimerCompact]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
