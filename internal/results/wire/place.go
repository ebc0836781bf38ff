package wire

import (
	"fmt"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// place is where a snapshot has items of a kind.
type place[I any] struct {
	// labels tell the items apart.
	labels []string
	// each calls do for each item, with the values of its labels.
	each func(s *results.Snapshot, do func(item *I, labels ...string))
	// find returns the item with these labels of a snapshot that is being decoded. The pointer is valid until the next
	// call.
	find func(s *results.Snapshot, labels []string) (*I, error)
}

// once is a place with at most one item.
func once[I any](field func(*results.Snapshot) **I) place[I] {
	return place[I]{
		each: func(s *results.Snapshot, do func(*I, ...string)) {
			if item := *field(s); item != nil {
				do(item)
			}
		},
		find: func(s *results.Snapshot, _ []string) (*I, error) { return made(field(s)), nil },
	}
}

// part is a place with exactly one item.
func part[I any](of func(*results.Snapshot) *I) place[I] {
	return place[I]{
		each: func(s *results.Snapshot, do func(*I, ...string)) { do(of(s)) },
		find: func(s *results.Snapshot, _ []string) (*I, error) { return of(s), nil },
	}
}

// made returns what a field points to.
func made[I any](field **I) *I {
	if *field == nil {
		*field = new(I)
	}
	return *field
}

// put sets an entry of a map that may be nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

// family is a family with at most one metric for each item. own are its labels beside those of the item.
func (p place[I]) family(name, help string, kind dto.MetricType, write func(*I) (metric, bool), read func(*I, metric) error, own ...string) family {
	return family{
		name: name, help: help, kind: kind, labels: slices.Concat(p.labels, own),
		write: func(s *results.Snapshot, emit func(metric)) {
			p.each(s, func(item *I, labels ...string) {
				if m, ok := write(item); ok {
					m.labels = slices.Concat(labels, m.labels)
					emit(m)
				}
			})
		},
		read: func(s *results.Snapshot, m metric) error {
			item, err := p.find(s, m.labels)
			if err != nil {
				return err
			}
			m.labels = m.labels[len(p.labels):]
			return read(item, m)
		},
	}
}

// number is a family for one field of each item.
func number[I, T any](p place[I], name, help string, kind dto.MetricType, c codec[T], field func(*I) *T) family {
	return p.family(name, help, kind,
		func(item *I) (metric, bool) {
			value, ok := c.encode(*field(item))
			return metric{value: value}, ok
		},
		func(item *I, m metric) (err error) {
			*field(item), err = c.decode(m.value)
			return err
		})
}

// gauge is a number that is a gauge.
func gauge[I, T any](p place[I], name, help string, c codec[T], field func(*I) *T) family {
	return number(p, name, help, dto.MetricType_GAUGE, c, field)
}

// textOf is a family for a text of each item that has one.
func textOf[I any](p place[I], name, help, label string, field func(*I) *string) family {
	return p.family(name, help, dto.MetricType_GAUGE,
		func(item *I) (metric, bool) {
			return metric{labels: []string{*field(item)}, value: 1}, *field(item) != ""
		},
		func(item *I, m metric) error {
			if m.labels[0] == "" || *field(item) != "" {
				return fmt.Errorf("wanted one %s, found none or more than one", label)
			}
			*field(item) = m.labels[0]
			return nil
		}, label)
}

// reasons is a family for a map of each item to reasons. refuse returns an error for a key or a reason that no pod sends.
func reasons[I any, K ~string](p place[I], name, help, label string, field func(*I) *map[K]string, refuse func(K, string) bool) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: []string{label, "reason"},
		write: func(s *results.Snapshot, emit func(metric)) {
			p.each(s, func(item *I, _ ...string) {
				for _, key := range sortedKeys(*field(item)) {
					emit(metric{labels: []string{string(key), (*field(item))[key]}, value: 1})
				}
			})
		},
		read: func(s *results.Snapshot, m metric) error {
			item, err := p.find(s, nil)
			if err != nil {
				return err
			}
			key, reason := K(m.labels[0]), m.labels[1]
			if _, twice := (*field(item))[key]; twice || refuse(key, reason) {
				return fmt.Errorf("wanted one reason for each known %s, found none, more than one or an unknown one: %.64q", label, key)
			}
			put(field(item), key, reason)
			return nil
		},
	}
}

// list is a family with the texts of each item, at most this many.
func list[I any](p place[I], name, help, label string, most int, field func(*I) *[]string) family {
	return family{
		name: name, help: help, kind: dto.MetricType_GAUGE, labels: []string{label},
		write: func(s *results.Snapshot, emit func(metric)) {
			p.each(s, func(item *I, _ ...string) {
				for _, text := range (*field(item))[:min(len(*field(item)), most)] {
					emit(metric{labels: []string{text}, value: 1})
				}
			})
		},
		read: func(s *results.Snapshot, m metric) error {
			item, err := p.find(s, nil)
			if err != nil {
				return err
			}
			if m.labels[0] == "" || len(*field(item)) == most {
				return fmt.Errorf("wanted at most %d texts, found more, or an empty one", most)
			}
			*field(item) = append(*field(item), m.labels[0])
			return nil
		},
	}
}
