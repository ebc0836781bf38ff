package plan

import "testing"

// What is answered once, the Fast transport carries.
func TestFastCarriesWhatIsAnsweredOnce(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"puts":               func(*Plan) {},
		"transactions":       txn(3),
		"compare-and-swaps":  txn(0),
		"grants of leases":   lease(Lease{Operation: LeaseGrant}),
		"leases' revocation": lease(Lease{Operation: LeaseRevoke}),
	} {
		t.Run(name, func(t *testing.T) {
			p := valid()
			change(&p)
			p.Load.Transport = TransportFast
			if err := p.Validate(); err != nil {
				t.Errorf("wanted a good plan, found: %v", err)
			}
		})
	}
}
