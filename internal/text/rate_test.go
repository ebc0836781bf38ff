package text

import (
	"testing"
)

func TestRatesHaveSignificantDigits(t *testing.T) {
	for want, perSecond := range map[string]float64{
		"0/s": 0, "0.000001/s": 0.000001, "0.000002/s": 0.0000029, "0.0166/s": 1.0 / 60, "0.333/s": 1.0 / 3, "1/s": 1, "2.5/s": 2.5, "12.3/s": 12.345, "99.9/s": 99.99,
		"100/s": 100, "999.9/s": 999.99, "149.9/s": 149.953, "1,000/s": 1000.9, "48,123/s": 48123.9, "0.29/s": 0.29,
	} {
		if got := RateOf(perSecond).String(); got != want {
			t.Errorf("%v per second: wanted %s, got %s", perSecond, want, got)
		}
	}
}
