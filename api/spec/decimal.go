package spec

import "strconv"

// Decimal is a number with digits after the point, written as a string since
// the API has no floating-point numbers: "0.99".
type Decimal string

// DecimalOf writes a number with all of its digits.
func DecimalOf(v float64) Decimal { return Decimal(strconv.FormatFloat(v, 'f', -1, 64)) }

// Float64 returns the number, and 0 for what is none.
func (d Decimal) Float64() float64 {
	v, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		return 0
	}
	return v
}
