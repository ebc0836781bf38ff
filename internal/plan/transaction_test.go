package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// txn makes a plan of the workload Txn.
func txn(puts int) func(*Plan) {
	return func(p *Plan) { p.Workload.Type, p.Workload.Txn = WorkloadTxn, &Txn{Puts: puts} }
}

// wrapped makes a plan of a mixture in transactions.
func wrapped(p *Plan) {
	p.Workload.Type, p.Workload.ReadsPerHundred, p.Workload.InTransaction = WorkloadMixed, 50, true
}

func TestAMixtureInTransactions(t *testing.T) {
	p := valid()
	if wrapped(&p); p.Validate() != nil {
		t.Errorf("got error %v", p.Validate())
	}
}

func TestDecodeReturnsATransaction(t *testing.T) {
	for name, puts := range map[string]int{"puts": 128, "compare-and-swap": 0} {
		t.Run(name, func(t *testing.T) {
			want := valid()
			txn(puts)(&want)
			data, err := want.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v, plan changed on its way (-want +got):\n%s", err, diff)
			}
			if got.Workload.PreloadsKeys() != (puts == 0) {
				t.Errorf("preloads keys: %v", got.Workload.PreloadsKeys())
			}
		})
	}
}

func TestValidateRefusesATransaction(t *testing.T) {
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"without its field":     {func(p *Plan) { p.Workload.Type = WorkloadTxn }, "workload.txn"},
		"of another workload":   {func(p *Plan) { p.Workload.Txn = &Txn{Puts: 1} }, "workload.txn"},
		"too long":              {txn(129), "workload.txn.puts"},
		"negative":              {txn(-1), "workload.txn.puts"},
		"of more keys than are": {func(p *Plan) { txn(3)(p); p.Workload.KeyCount = 2 }, "workload.txn.puts"},
		"a mixture over Fast":   {func(p *Plan) { wrapped(p); p.Load.Transport = TransportFast }, "load.transport"},
		"wrapped puts":          {func(p *Plan) { wrapped(p); p.Workload.Type = WorkloadPut }, "workload.inTransaction"},
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
