package spec

import "strconv"

// Decimal is a number with digits after the point. It is a string, such as
// "0.99", because the API has no floating-point numbers.
type Decimal string

// DecimalOf writes a number with all of its digits.
func DecimalOf(v float64) Decimal { return Decimal(strconv.FormatFloat(v, 'f', -1, 64)) }

// Float64 returns the number, or 0 if the text is not a number.
func (d Decimal) Float64() float64 {
	v, err := strconv.ParseFloat(string(d), 64)
	if err != nil {
		return 0
	}
	return v
}
