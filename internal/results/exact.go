package results

import "math/bits"

// IsMore reports whether part/whole > share/unit, exactly: in floating point, 1 - 0.9 is less than a tenth. A share of
// nothing is not more than any limit.
func IsMore(part, whole, share, unit uint64) bool {
	high, low := bits.Mul64(part, unit)
	limitHigh, limitLow := bits.Mul64(share, whole)
	return whole > 0 && (high > limitHigh || high == limitHigh && low > limitLow)
}
