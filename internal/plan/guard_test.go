package plan

import "testing"

func TestWriteEstimate(t *testing.T) {
	const unknown = -1
	tests := map[string]struct {
		change func(*Plan)
		// entries that are written, and how many of them a page takes
		entries, perPage int64
	}{
		"puts by number":     {func(p *Plan) {}, 100_000, 10},
		"a closed loop":      {func(p *Plan) { p.Load.Requests, p.Load.DurationSeconds = 0, 60 }, unknown, 1},
		"an uncounted start": {func(p *Plan) { p.Load.WarmupSeconds = 1 }, 100_000, 10},
		"an open loop": {func(p *Plan) {
			p.Load.Requests, p.Load.DurationSeconds, p.Load.WarmupSeconds, p.Load.RatePerSecond = 0, 60, 5, 100
		}, 6500, 10},
		"a rate that changes": {func(p *Plan) {
			p.Load.Requests, p.Load.DurationSeconds, p.Load.WarmupSeconds = 0, 30, 5
			p.Load.Stages = []Stage{{FromPerSecond: 100, ToPerSecond: 300, Seconds: 10}, {FromPerSecond: 50, ToPerSecond: 50, Seconds: 20}}
		}, 500 + 2000 + 1000, 10},
		"an open loop by number": {func(p *Plan) { p.Load.WarmupSeconds, p.Load.RatePerSecond = 5, 100 }, 100_500, 10},
		"reads of any number": {func(p *Plan) {
			p.Workload.Type, p.Workload.KeyCount = WorkloadRange, 5000
			p.Load.Requests, p.Load.DurationSeconds = 0, 60
		}, 5000, 10},
		"reads and writes": {func(p *Plan) {
			p.Workload.Type, p.Workload.KeyCount, p.Workload.ReadsPerHundred = WorkloadMixed, 5000, 80
		}, 25_000, 10},
		"transactions": {func(p *Plan) { p.Workload.Type, p.Workload.Txn = WorkloadTxn, &Txn{Puts: 8} }, 800_000, 10},
		"compare and swap": {func(p *Plan) {
			p.Workload.Type, p.Workload.Txn, p.Workload.KeyCount = WorkloadTxn, &Txn{}, 5000
		}, 105_000, 10},
		"software transactions": {func(p *Plan) {
			p.Workload.Type, p.Workload.STM, p.Workload.KeyCount = WorkloadSTM, &STM{Keys: 5, WritePercent: 30, Locker: LockerNone}, 5000
		}, 155_000, 10},
		"software transactions with locks": {func(p *Plan) {
			p.Workload.Type, p.Workload.STM, p.Workload.KeyCount = WorkloadSTM, &STM{Keys: 5, WritePercent: 20, Locker: LockerRPC}, 5000
		}, 305_000, 10},
		"three in a page":        {func(p *Plan) { p.Workload.ValueSize = 1024 }, 100_000, 3},
		"what no plan has known": {func(p *Plan) { p.Workload.Type = "Nothing" }, unknown, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p)
			got, known := p.WriteEstimate()
			if want := int64(float64(tc.entries) * 4096 / float64(tc.perPage)); known != (tc.entries != unknown) || known && got != want {
				t.Errorf("got %d bytes (known: %v), wanted %d", got, known, want)
			}
		})
	}
}

func TestWriteEstimateOfGreatEntries(t *testing.T) {
	p := valid()
	p.Workload.ValueSize, p.Load.Requests = 10_000, 10
	if got, _ := p.WriteEstimate(); got != 10*3*4096 {
		t.Errorf("got %d bytes for 10 values of 10,000, wanted three pages for each", got)
	}
	p.Workload.ValueSize, p.Load.Requests = 1_568_000, 1<<60
	if got, known := p.WriteEstimate(); !known || got <= 0 {
		t.Errorf("got %d bytes for more than any disk holds, wanted very many", got)
	}
}

func TestOnlyTheWarmUpOfAClosedLoopIsUncounted(t *testing.T) {
	tests := map[string]struct {
		change func(*Plan)
		want   bool
	}{
		"a closed loop with a warm-up": {func(p *Plan) { p.Load.WarmupSeconds = 2 }, true},
		"without a warm-up":            {func(p *Plan) {}, false},
		"an open loop":                 {func(p *Plan) { p.Load.WarmupSeconds, p.Load.RatePerSecond = 2, 100 }, false},
		"a rate that changes": {func(p *Plan) {
			p.Load.WarmupSeconds, p.Load.Stages = 2, []Stage{{FromPerSecond: 1, ToPerSecond: 2, Seconds: 3}}
		}, false},
		"bound by a time": {func(p *Plan) { p.Load.WarmupSeconds, p.Load.Requests, p.Load.DurationSeconds = 2, 0, 60 }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			p.Load.WarmupSeconds = 0
			tc.change(&p)
			if got := p.WritesMore(); got != tc.want {
				t.Errorf("writes more than its estimate: %v, wanted %v", got, tc.want)
			}
		})
	}
}
