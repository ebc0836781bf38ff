package process

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// nodeFiles writes files below /proc of a root.
func nodeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "proc", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestNode(t *testing.T) {
	before := map[string]string{
		"stat":         "cpu  100 0 100 700 50 0 0 50 30 0\ncpu0 1 1 1 1\n",
		"pressure/cpu": "some avg10=1.00 avg60=1.00 avg300=1.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		"pressure/io":  "some avg10=1.00 avg60=1.00 avg300=1.00 total=0\n",
	}
	after := map[string]string{
		// 60 of 100 ticks were used, 10 of them by other virtual machines.
		"stat":         "cpu  140 0 110 735 55 0 0 60 90 0\n",
		"pressure/cpu": "some avg10=1.00 avg60=1.00 avg300=1.00 total=3500000\n",
		"pressure/io":  "some avg10=1.00 avg60=1.00 avg300=1.00 total=99000000\n",
	}
	tests := map[string]struct {
		before, after map[string]string
		want          map[results.ProcessFigure]float64
	}{
		"a node": {before, after, map[results.ProcessFigure]float64{
			results.ProcessNodeBusyRatio: 0.6, results.ProcessNodeCPUPressureRatio: 0.25, results.ProcessNodeIOPressureRatio: 1,
		}},
		"nothing can be read": {nil, nil, nil},
		"another format":      {map[string]string{"stat": "cpu 1 2", "pressure/cpu": "none"}, map[string]string{"stat": "intr 1"}, nil},
		"it went back":        {after, before, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := map[results.ProcessFigure]float64{}
			readNode(nodeFiles(t, tc.after)).since(readNode(nodeFiles(t, tc.before)), 10*time.Second, func(f results.ProcessFigure, v float64) { got[f] = v })
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
		})
	}
}
