package report

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// timeTaken is the time from the start to the end in seconds, as JUnit has it; empty if one of them is not known.
func timeTaken(start *metav1.Time, conditions []metav1.Condition) string {
	end := meta.FindStatusCondition(conditions, v1alpha1.ConditionFinished)
	if start == nil || end == nil || end.Status != metav1.ConditionTrue || end.LastTransitionTime.Before(start) {
		return ""
	}
	return strconv.FormatFloat(end.LastTransitionTime.Sub(start.Time).Seconds(), 'f', -1, 64)
}

// propertiesOf are the numbers of a run with their units; nil if nothing was measured.
func propertiesOf(run *v1alpha1.EtcdBenchmark) *junitProperties {
	s := run.Status.Summary
	if s == nil {
		return nil
	}
	p := &junitProperties{}
	p.add("measuredSeconds", float64(s.DurationMicroseconds)/1e6)
	p.add("throughputPerSecond", s.ThroughputPerSecond.Float64())
	for _, op := range s.Operations {
		first := min(1, len(op.Operation))
		name := clean(strings.ToLower(string(op.Operation[:first])) + string(op.Operation[first:]))
		p.add(name+"Succeeded", float64(op.Succeeded))
		p.add(name+"Failed", float64(op.Failed))
		if op.Latency != nil {
			p.add(name+"LatencyP50Microseconds", float64(op.Latency.P50Microseconds))
			p.add(name+"LatencyP99Microseconds", float64(op.Latency.P99Microseconds))
			p.add(name+"LatencyMaxMicroseconds", float64(op.Latency.MaxMicroseconds))
		}
	}
	if t := run.Status.Target; t != nil && t.Version != "" {
		p.Property = append(p.Property, junitProperty{"targetVersion", clean(t.Version)})
	}
	return p
}

func (p *junitProperties) add(name string, value float64) {
	p.Property = append(p.Property, junitProperty{name, strconv.FormatFloat(value, 'f', -1, 64)})
}
