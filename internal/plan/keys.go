package plan

import (
	"errors"
	"strconv"
)

// KeyOrder is how operations choose keys.
type KeyOrder string

// The orders of keys.
const (
	KeyOrderSequential KeyOrder = "Sequential"
	KeyOrderUniform    KeyOrder = "Uniform"
	KeyOrderZipf       KeyOrder = "Zipf"
	KeyOrderHotSpot    KeyOrder = "HotSpot"
)

// Demand is how uneven the demand for keys is.
type Demand struct {
	// ZipfThousandths is the exponent of KeyOrderZipf, in thousandths.
	ZipfThousandths int `json:"zipfThousandths,omitempty"`
	// HotKeysPerThousand and HotRequestsPerThousand are the share of the keys
	// that are hot and the share of the requests on them, of KeyOrderHotSpot.
	HotKeysPerThousand     int `json:"hotKeysPerThousand,omitempty"`
	HotRequestsPerThousand int `json:"hotRequestsPerThousand,omitempty"`
}

func (w Workload) validateKeys() error {
	if w.Type == WorkloadLease || w.UsesRegistry() || w.isContest() {
		return nil
	}
	errs := []error{
		check(w.KeyCount >= 1, "workload.keyCount", "at least 1", w.KeyCount),
		check(w.KeySize >= len(strconv.FormatInt(max(w.KeyCount-1, 0), 10)),
			"workload.keySize", "enough bytes to write keyCount different decimal numbers", w.KeySize),
	}
	switch d := w.Demand; w.KeyOrder {
	case KeyOrderSequential, KeyOrderUniform:
	case KeyOrderZipf:
		errs = append(errs, check(d.ZipfThousandths >= 1 && d.ZipfThousandths <= 10_000, "workload.demand.zipfThousandths", "1 to 10000", d.ZipfThousandths))
	case KeyOrderHotSpot:
		errs = append(errs,
			check(w.KeyCount >= 2, "workload.keyCount", "a hot key and a cold one", w.KeyCount),
			check(d.HotKeysPerThousand >= 1 && d.HotKeysPerThousand <= 999, "workload.demand.hotKeysPerThousand", "1 to 999", d.HotKeysPerThousand),
			check(d.HotRequestsPerThousand >= 0 && d.HotRequestsPerThousand <= 1000, "workload.demand.hotRequestsPerThousand", "0 to 1000", d.HotRequestsPerThousand))
	default:
		errs = append(errs, check(false, "workload.keyOrder", "Sequential, Uniform, Zipf or HotSpot", w.KeyOrder))
	}
	return errors.Join(errs...)
}
