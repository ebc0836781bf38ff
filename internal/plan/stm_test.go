package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stm makes a plan of the workload STM.
func stm(s STM) func(*Plan) {
	return func(p *Plan) {
		p.Workload.Type, p.Workload.STM = WorkloadSTM, &s
		if s.Locks() {
			p.FirstLease = 5 * LeaseIDs
		}
	}
}

func TestDecodeReturnsSTM(t *testing.T) {
	for name, tc := range map[string]struct {
		stm    STM
		leases int64
	}{
		"without locks":           {STM{IsolationSerializable, 128, 100, LockerNone}, 0},
		"as many comparisons":     {STM{IsolationSerializableSnapshot, 64, 100, LockerNone}, 0},
		"with a mutex":            {STM{IsolationRepeatableReads, 1, 0, LockerClient}, 1000},
		"with the lock service":   {STM{IsolationReadCommitted, 3, 50, LockerRPC}, 1000},
		"few writes of many keys": {STM{IsolationSerializableSnapshot, 127, 0, LockerNone}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			want := valid()
			stm(tc.stm)(&want)
			data, err := want.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v, plan changed on its way (-want +got):\n%s", err, diff)
			}
			if !got.Workload.PreloadsKeys() || got.LeaseCount() != tc.leases || got.UsesLeases() != (tc.leases > 0) {
				t.Errorf("preloads keys: %v, %d leases, wanted the keys and %d", got.Workload.PreloadsKeys(), got.LeaseCount(), tc.leases)
			}
		})
	}
}

func TestValidateRefusesSTM(t *testing.T) {
	good := STM{IsolationSerializableSnapshot, 4, 50, LockerNone}
	with := func(change func(*STM)) func(*Plan) {
		changed := good
		change(&changed)
		return stm(changed)
	}
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"without its field":        {func(p *Plan) { p.Workload.Type = WorkloadSTM }, "workload.stm"},
		"of another workload":      {func(p *Plan) { p.Workload.STM = &good }, "workload.stm"},
		"an unknown isolation":     {with(func(s *STM) { s.Isolation = "Chaos" }), "workload.stm.isolation"},
		"an unknown locker":        {with(func(s *STM) { s.Locker = "Padlock" }), "workload.stm.locker"},
		"no keys":                  {with(func(s *STM) { s.Keys = 0 }), "workload.stm.keys"},
		"too many keys":            {with(func(s *STM) { s.Isolation, s.Keys = IsolationSerializable, 129 }), "workload.stm.keys"},
		"too many comparisons":     {with(func(s *STM) { s.Keys, s.WritePercent = 127, 1 }), "workload.stm.keys"},
		"more keys than there are": {func(p *Plan) { stm(good)(p); p.Workload.KeyCount = 3 }, "workload.stm.keys"},
		"more than all written":    {with(func(s *STM) { s.WritePercent = 101 }), "workload.stm.writePercent"},
		"less than none written":   {with(func(s *STM) { s.WritePercent = -1 }), "workload.stm.writePercent"},
		"locks without leases":     {func(p *Plan) { with(func(s *STM) { s.Locker = LockerClient })(p); p.FirstLease = 0 }, "firstLease"},
		"leases without locks":     {func(p *Plan) { stm(good)(p); p.FirstLease = LeaseIDs }, "firstLease"},
		"over Fast":                {func(p *Plan) { stm(good)(p); p.Load.Transport = TransportFast }, "load.transport"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p)
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
