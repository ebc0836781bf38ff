package process

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestOtherProcess(t *testing.T) {
	page := strconv.Itoa(os.Getpagesize())
	root := nodeFiles(t, map[string]string{
		"1/comm": "pause\n", "12/comm": "etcd\n", "7/comm": "etcd\n", "9/comm": "etcdctl\n",
		"7/stat":    "7 (an) (etcd) S 1 1 1 0 -1 4194304 9 0 0 0 150 50 0 0 20 0 9 0 100 800000 3 " + page + " 1\n",
		"7/io":      "rchar: 5\nwchar: 6\nread_bytes: 4096\nwrite_bytes: 4503599627370495\ncancelled_write_bytes: 1\n",
		"7/net/dev": "Inter-| Receive | Transmit\n face |bytes packets\n    lo: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n  eth0:100 1 0 0 0 0 0 0 70 1 0 0 0 0 0 0\n  net1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n",
	})
	o := find(root, "etcd")
	if o.PID != 7 {
		t.Fatalf("found %+v, wanted the process 7", o)
	}
	cpu, resident, err := o.Now()
	if err != nil || cpu != 2*time.Second || resident != int64(3*os.Getpagesize()) {
		t.Errorf("got %v and %d bytes (%v), wanted 2s and three pages", cpu, resident, err)
	}
	want := map[results.Figure]float64{results.FigureStorageReadBytes: 4096, results.FigureStorageWrittenBytes: 1<<52 - 1}
	if diff := cmp.Diff(want, o.Storage()); diff != "" {
		t.Errorf("storage (-want +got):\n%s", diff)
	}
	want = map[results.Figure]float64{results.FigurePodReceivedBytes: 105, results.FigurePodSentBytes: 76}
	if diff := cmp.Diff(want, o.Network()); diff != "" {
		t.Errorf("network (-want +got):\n%s", diff)
	}
}

// What cannot be read is absent, and not 0.
func TestOtherProcessThatCannotBeRead(t *testing.T) {
	root := nodeFiles(t, map[string]string{"7/comm": "etcd\n", "7/stat": "7 (etcd) Z 1\n", "7/net/dev": "eth0: many 1 0 0 0 0 0 0 70\n"})
	o := find(root, "etcd")
	if _, _, err := o.Now(); err == nil {
		t.Error("wanted an error of a stat without fields")
	}
	if got := o.Storage(); len(got) != 0 {
		t.Errorf("got %v of a process of another user", got)
	}
	if got := o.Network(); len(got) != 0 {
		t.Errorf("got the network %v", got)
	}
	if _, _, err := find(root, "zookeeper").Now(); err == nil {
		t.Error("wanted an error of no process")
	}
}
