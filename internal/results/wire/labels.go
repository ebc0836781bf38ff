package wire

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

func cleanAll(texts []string) []string {
	cleaned := make([]string, len(texts))
	for i, value := range texts {
		cleaned[i] = text.Printable(value)
	}
	return cleaned
}

// labelKey joins label values into a unique key; clean texts contain no zero byte.
func labelKey(values []string) string { return strings.Join(values, "\x00") }

// labelPairs returns the labels of a metric, sorted as Prometheus requires.
func (f *family) labelPairs(values []string) []*dto.LabelPair {
	pairs := make([]*dto.LabelPair, len(values))
	for i := range values {
		pairs[i] = &dto.LabelPair{Name: &f.labels[i], Value: &values[i]}
	}
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return pairs
}

// labelValues returns the values of a metric's labels in the order of family.labels.
func (f *family) labelValues(pairs []*dto.LabelPair) ([]string, error) {
	if len(pairs) != len(f.labels) {
		return nil, fmt.Errorf("wanted the labels %v, found %d labels", f.labels, len(pairs))
	}
	values := make([]string, len(f.labels))
	for i, name := range f.labels {
		at := slices.IndexFunc(pairs, func(p *dto.LabelPair) bool { return p.GetName() == name })
		if at < 0 {
			return nil, fmt.Errorf("wanted the labels %v, found no %s", f.labels, name)
		}
		values[i] = pairs[at].GetValue()
		if values[i] != text.Printable(values[i]) {
			return nil, fmt.Errorf("label %s: wanted at most %d bytes of printable text, found %.64q", name, text.MaxBytes, values[i])
		}
	}
	return values, nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
