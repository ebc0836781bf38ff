package plan

import (
	"strings"
	"testing"
)

func TestKeysThatCannotBeChosen(t *testing.T) {
	tests := map[string]struct {
		count  int64
		order  KeyOrder
		demand Demand
		// want is a part of the message, empty if the plan is good.
		want string
	}{
		"sequential":            {1, KeyOrderSequential, Demand{}, ""},
		"uniform":               {1, KeyOrderUniform, Demand{}, ""},
		"zipf":                  {1, KeyOrderZipf, Demand{ZipfThousandths: 990}, ""},
		"hot spot":              {2, KeyOrderHotSpot, Demand{HotKeysPerThousand: 1}, ""},
		"an unknown order":      {2, "Backwards", Demand{}, "workload.keyOrder"},
		"no keys":               {0, KeyOrderUniform, Demand{}, "workload.keyCount"},
		"no exponent":           {2, KeyOrderZipf, Demand{}, "zipfThousandths"},
		"an exponent too great": {2, KeyOrderZipf, Demand{ZipfThousandths: 10_001}, "zipfThousandths"},
		"a hot key only":        {1, KeyOrderHotSpot, Demand{HotKeysPerThousand: 1}, "workload.keyCount"},
		"no hot keys":           {2, KeyOrderHotSpot, Demand{}, "hotKeysPerThousand"},
		"hot keys only":         {2, KeyOrderHotSpot, Demand{HotKeysPerThousand: 1000}, "hotKeysPerThousand"},
		"too many hot requests": {2, KeyOrderHotSpot, Demand{HotKeysPerThousand: 1, HotRequestsPerThousand: 1001}, "hotRequestsPerThousand"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			p.Workload.KeyCount, p.Workload.KeyOrder, p.Workload.Demand = tc.count, tc.order, tc.demand
			switch err := p.Validate(); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
