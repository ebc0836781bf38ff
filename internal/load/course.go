package load

import "github.com/etcdbench/etcd-benchmark-operator/internal/results"

// course records when a request ended.
func (s *shard) course(o requestOutcome) {
	ended, latency := o.response.Received.Sub(o.start), o.response.Received.Sub(o.due)
	s.timeline.Record(ended, latency, o.response.Succeeded())
	if o.response.Succeeded() {
		s.heatmap.Record(ended, latency)
	}
}

// course writes the merged timeline and heatmap into a snapshot. It waits for the shards' writers.
func (r *recorder) course(snapshot *results.Snapshot) {
	for i := range r.shards {
		s := &r.shards[i]
		s.writing.Lock()
		snapshot.Timeline.Merge(&s.timeline)
		snapshot.Heatmap.Merge(&s.heatmap)
		s.writing.Unlock()
	}
}
