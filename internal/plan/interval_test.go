package plan

import (
	"strings"
	"testing"
)

func TestReadsAndDeletionsThatCannotBeRun(t *testing.T) {
	reads := func(i Interval) func(*Plan) {
		return func(p *Plan) { p.Workload.Type, p.Workload.KeyCount, p.Workload.Interval = WorkloadRange, 10, i }
	}
	deletes := func(change func(*Plan)) func(*Plan) {
		return func(p *Plan) {
			p.Workload.Type, p.Workload.KeyCount, p.Load.Requests = WorkloadDelete, 10, 10
			change(p)
		}
	}
	tests := map[string]struct {
		change func(*Plan)
		// want is a part of the message, empty if the plan is good.
		want string
	}{
		"a page":                {reads(Interval{Keys: 10, Limit: 9, KeysOnly: true}), ""},
		"a count":               {reads(Interval{Keys: 10, CountOnly: true}), ""},
		"too many keys":         {reads(Interval{Keys: 11}), "workload.interval.keys"},
		"less than no keys":     {reads(Interval{Keys: -1}), "workload.interval.keys"},
		"a limit of nothing":    {reads(Interval{Keys: 3, Limit: 3}), "workload.interval.limit"},
		"a limit below zero":    {reads(Interval{Keys: 3, Limit: -1}), "workload.interval.limit"},
		"a count with keys":     {reads(Interval{KeysOnly: true, CountOnly: true}), "workload.interval.countOnly"},
		"pages":                 {reads(Interval{Keys: 10, PageKeys: 9, KeysOnly: true}), ""},
		"a stream":              {reads(Interval{Keys: 10, Stream: true, KeysOnly: true}), ""},
		"one page":              {reads(Interval{Keys: 3, PageKeys: 3}), "workload.interval.pageKeys"},
		"pages below zero":      {reads(Interval{Keys: 3, PageKeys: -1}), "workload.interval.pageKeys"},
		"a stream in pages":     {reads(Interval{Keys: 3, PageKeys: 1, Stream: true}), "workload.interval.stream"},
		"a limit on pages":      {reads(Interval{Keys: 3, PageKeys: 1, Limit: 2}), "neither countOnly nor limit"},
		"a stream of a count":   {reads(Interval{Keys: 3, Stream: true, CountOnly: true}), "neither countOnly nor limit"},
		"pages over Fast":       {func(p *Plan) { reads(Interval{Keys: 3, PageKeys: 1})(p); p.Load.Transport = TransportFast }, "load.transport"},
		"a stream over Fast":    {func(p *Plan) { reads(Interval{Keys: 3, Stream: true})(p); p.Load.Transport = TransportFast }, "load.transport"},
		"puts of an interval":   {func(p *Plan) { p.Workload.Interval.Keys = 2 }, "workload.interval"},
		"deletions":             {deletes(func(*Plan) {}), ""},
		"deletions at random":   {deletes(func(p *Plan) { p.Workload.KeyOrder = KeyOrderUniform }), ""},
		"more deletions":        {deletes(func(p *Plan) { p.Load.Requests = 11 }), "load.requests"},
		"deletions for a time":  {deletes(func(p *Plan) { p.Load.Requests, p.Load.DurationSeconds = 0, 1 }), "load.requests"},
		"deletions, warmed up":  {deletes(func(p *Plan) { p.Load.WarmupSeconds = 1 }), "load.warmupSeconds"},
		"deletions of hot keys": {deletes(func(p *Plan) { p.Workload.KeyOrder, p.Workload.Demand.ZipfThousandths = KeyOrderZipf, 9 }), "workload.keyOrder"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p)
			switch err := p.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
