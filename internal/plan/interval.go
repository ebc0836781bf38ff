package plan

import (
	"errors"
	"fmt"
)

// Interval is what each request of WorkloadRange reads. The zero Interval is
// one key and its value.
type Interval struct {
	// Keys is how many keys that follow each other a request covers; 0 is one.
	Keys int64 `json:"keys,omitempty"`
	// Limit is how many of them are returned at most; 0 is all.
	Limit int64 `json:"limit,omitempty"`
	// KeysOnly leaves out values, CountOnly also keys.
	KeysOnly  bool `json:"keysOnly,omitempty"`
	CountOnly bool `json:"countOnly,omitempty"`
	// PageKeys is how many keys each page has of a request that reads page after
	// page; 0 is no pages.
	PageKeys int64 `json:"pageKeys,omitempty"`
	// Stream has requests answered by a stream of responses.
	Stream bool `json:"stream,omitempty"`
}

// isWhole says whether a request has one response.
func (i Interval) isWhole() bool { return i.PageKeys == 0 && !i.Stream }

// Width is how many keys a request covers, at least 1.
func (i Interval) Width() int64 { return max(1, i.Keys) }

// Firsts is the number of keys with which a request can begin.
func (w Workload) Firsts() int64 { return w.KeyCount - w.Interval.Width() + 1 }

func (w Workload) validateInterval() error {
	i := w.Interval
	if i == (Interval{}) {
		return nil
	}
	return errors.Join(
		check(w.Type == WorkloadRange, "workload.interval", "none beside Range", i),
		check(i.Keys >= 0 && w.Firsts() >= 1, "workload.interval.keys", fmt.Sprintf("0 to %d, the number of keys", w.KeyCount), i.Keys),
		check(i.Limit >= 0 && (i.Limit == 0 || i.Limit < i.Width()), "workload.interval.limit", "0, or less than keys", i.Limit),
		check(!i.CountOnly || !i.KeysOnly && i.Limit == 0, "workload.interval.countOnly", "neither keysOnly nor limit with it", i),
		check(i.PageKeys >= 0 && (i.PageKeys == 0 || i.PageKeys < i.Width()), "workload.interval.pageKeys", "0, or less than keys", i.PageKeys),
		check(i.PageKeys == 0 || !i.Stream, "workload.interval.stream", "no pages with it", i),
		check(i.isWhole() || !i.CountOnly && i.Limit == 0, "workload.interval", "neither countOnly nor limit beside pages or a stream", i),
	)
}

// validateDelete wants a key for each request that deletes one.
func (p Plan) validateDelete() error {
	w := p.Workload
	if w.Type != WorkloadDelete {
		return nil
	}
	return errors.Join(
		check(w.KeyOrder == KeyOrderSequential || w.KeyOrder == KeyOrderUniform, "workload.keyOrder", "Sequential or Uniform for Delete", w.KeyOrder),
		check(p.Load.Requests >= 1 && p.Load.Requests <= w.KeyCount, "load.requests", fmt.Sprintf("1 to %d, the number of keys to delete", w.KeyCount), p.Load.Requests),
		check(p.Load.WarmupSeconds == 0, "load.warmupSeconds", "0 for Delete", p.Load.WarmupSeconds),
	)
}
