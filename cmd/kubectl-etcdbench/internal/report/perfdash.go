package report

import (
	"errors"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
)

// Perfdash writes a run or a suite for Kubernetes's performance dashboard.
func Perfdash(d *Document) ([]byte, error) {
	switch {
	case d.Suite != nil:
		var runs []*v1alpha1.EtcdBenchmark
		for _, r := range d.Runs {
			runs = append(runs, r.Object)
		}
		return render.PerfdashSuite(d.Suite, runs)
	case d.Schedule == nil && len(d.Runs) == 1:
		return render.Perfdash(d.Runs[0].Object)
	}
	return nil, errors.New("perfdash: wanted one run or a suite; use -o csv for other results")
}
