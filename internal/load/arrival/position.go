package arrival

// position is a point in a schedule, counted in arrivals: the integral of the rate from the start. The fraction has 32
// binary places, so that the half arrivals at which ramps can end are exact.
type position struct {
	whole uint64
	part  uint32
}

// places is the number of binary places of position.part.
const places = 32

// half returns n halves of an arrival.
func half(n uint64) position { return position{n / 2, uint32(n%2) << (places - 1)} }

func (p position) isBefore(q position) bool {
	return p.whole < q.whole || p.whole == q.whole && p.part < q.part
}

func (p position) plus(q position) position {
	part := uint64(p.part) + uint64(q.part)
	return position{p.whole + q.whole + part>>places, uint32(part)}
}

// minus returns p - q, which must not be negative.
func (p position) minus(q position) position {
	part := uint64(1)<<places + uint64(p.part) - uint64(q.part)
	return position{p.whole - q.whole - 1 + part>>places, uint32(part)}
}

// times returns p · unit, rounded down.
func (p position) times(unit wide) wide {
	return unit.times(p.whole).plus(unit.times(uint64(p.part)).shiftedRight(places))
}

// arrivals is p as a floating-point number.
func (p position) arrivals() float64 {
	return float64(p.whole) + float64(p.part)/(1<<places)
}
