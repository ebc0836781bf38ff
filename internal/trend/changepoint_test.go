package trend

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// steps is a level that changes by size at each of the places.
func steps(size float64, places ...int) func(i int) float64 {
	return func(i int) (level float64) {
		for _, place := range places {
			if i >= place {
				level += size
			}
		}
		return level
	}
}

// between is a level that changes at a place and is restored at a later one.
func between(size float64, from, to int) func(i int) float64 {
	return func(i int) float64 {
		if i < from || i >= to {
			return 0
		}
		return size
	}
}

// isNear reports whether changes are at the places, give or take one session.
func isNear(changes []Change, places ...int) bool {
	return slices.EqualFunc(changes, places, func(c Change, place int) bool { return max(c.Index-place, place-c.Index) <= 1 })
}

// shareOf is how often a condition holds for the changes in noisy histories.
func shareOf(t *testing.T, n int, deviation float64, level func(int) float64, tolerance float64, holds func([]Change) bool) float64 {
	t.Helper()
	const trials = 100
	random := rand.New(rand.NewPCG(7, 11))
	found := 0
	for range trials {
		changes, known := Changes(noisy(random, n, deviation, level), nil, tolerance)
		if !known {
			t.Fatalf("%d values are unknown", n)
		}
		if holds(changes) {
			found++
		}
	}
	return float64(found) / trials
}

func isAny(changes []Change) bool { return len(changes) > 0 }

// The level of the test is 1 %.
func TestFalseChanges(t *testing.T) {
	for _, n := range []int{MinPoints, 60, MaxPoints} {
		if got := shareOf(t, n, 0.05, unchanged, 0.05, isAny); got > 0.03 {
			t.Errorf("%.2f of the histories of %d values have a change", got, n)
		}
	}
}

// The p of histories without a change is small as often as it should be.
func TestLevelOfTheTest(t *testing.T) {
	const trials = 3000
	random := rand.New(rand.NewPCG(7, 11))
	found := 0
	for range trials {
		if _, p := strongestSplit(noisy(random, 40, 0.05, unchanged)); p <= level {
			found++
		}
	}
	if got := float64(found) / trials; math.Abs(got-level) > 0.005 {
		t.Errorf("%.4f of the histories are significant, wanted about %v", got, level)
	}
}

func TestChangesAreFound(t *testing.T) {
	for name, tc := range map[string]struct {
		n      int
		level  func(int) float64
		places []int
		want   float64
	}{
		"one step":                  {40, steps(0.10, 20), []int{20}, 0.95},
		"one step down":             {40, steps(-0.10, 20), []int{20}, 0.95},
		"5 sessions ago":            {40, steps(0.10, 35), []int{35}, 0.90},
		"3 sessions ago":            {40, steps(0.15, 37), []int{37}, 0.90},
		"two steps":                 {60, steps(0.15, 20, 40), []int{20, 40}, 0.90},
		"undone after 20 sessions":  {60, between(0.10, 20, 40), []int{20, 40}, 0.90},
		"undone after 6 sessions":   {60, between(0.10, 27, 33), []int{27, 33}, 0.90},
		"the least history":         {MinPoints, steps(0.20, 9), []int{9}, 0.90},
		"the least history, undone": {MinPoints, between(0.20, 0, 3), []int{3}, 0.90},
	} {
		t.Run(name, func(t *testing.T) {
			got := shareOf(t, tc.n, 0.03, tc.level, 0.05, func(c []Change) bool { return isNear(c, tc.places...) })
			if got < tc.want {
				t.Errorf("found in %.3f, wanted %.2f", got, tc.want)
			}
		})
	}
}

// A clear change is found with its third value, not before, and at its first one: the last value before it is not blamed.
func TestPlaceOfAClearChange(t *testing.T) {
	for after, want := range map[int]float64{1: 0, 2: 0, 3: 1, 4: 1, 20: 1} {
		for _, size := range []float64{-0.35, 0.35} {
			level := steps(size, 60)
			if got := shareOf(t, 60+after, 0.03, level, 0.05, func(c []Change) bool { return len(c) > 0 }); got < want-0.03 || got > want+0.03 {
				t.Errorf("%d values after a change of %v: found in %.2f, wanted %.0f", after, size, got, want)
			}
			if got := shareOf(t, 60+after, 0.03, level, 0.05, func(c []Change) bool { return slices.Equal(indexes(c), []int{60}) }); got < want-0.03 {
				t.Errorf("%d values after a change of %v: at its place in %.2f, wanted %.0f", after, size, got, want)
			}
		}
	}
}

func TestSizeOfAChange(t *testing.T) {
	values := noisy(rand.New(rand.NewPCG(1, 1)), 100, 0.01, steps(0.10, 50))
	changes, _ := Changes(values, nil, 0.05)
	if !isNear(changes, 50) {
		t.Fatalf("%+v", changes)
	}
	c := changes[0]
	if math.Abs(c.Before-math.Log(1000)) > 0.005 || math.Abs(c.After-math.Log(1100)) > 0.005 || math.Abs(c.Relative()-0.10) > 0.01 {
		t.Errorf("%+v, wanted 1000 to 1100", c)
	}
	if c.P != 0.001 {
		t.Errorf("p is %v, wanted the least that 999 orders allow", c.P)
	}
}

// A single outlier is Suspect on its day, and is almost never a change.
func TestOutlier(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	suspect, found := 0, 0
	const trials = 100
	for i := range trials {
		values := noisy(random, 40, 0.03, unchanged)
		at := MinHistory + i%(40-MinHistory)
		values[at] += math.Log(1.40)
		if Judge(values[:at], values[at], HigherIsWorse, 0.05).Verdict == Suspect {
			suspect++
		}
		if changes, _ := Changes(values, nil, 0.05); len(changes) > 0 {
			found++
		}
	}
	if suspect < 0.99*trials || found > 0.01*trials {
		t.Errorf("of %d outliers, %d are suspect and %d are changes", trials, suspect, found)
	}
}

// A drift of 30 % appears as one to four changes, all upwards. A drift within the tolerance is no change.
func TestDrift(t *testing.T) {
	drift := func(perSession float64) func(int) float64 {
		return func(i int) float64 { return perSession * float64(i) }
	}
	isUpwards := func(changes []Change) bool {
		isDown := func(c Change) bool { return c.After <= c.Before }
		return len(changes) >= 1 && len(changes) <= 4 && !slices.ContainsFunc(changes, isDown)
	}
	if got := shareOf(t, 60, 0.03, drift(0.005), 0.05, isUpwards); got < 0.99 {
		t.Errorf("a drift of 30 %% is one to four changes in %.3f", got)
	}
	if got := shareOf(t, 60, 0.03, drift(0.0005), 0.05, isAny); got > 0.02 {
		t.Errorf("a drift of 3 %% is a change in %.3f", got)
	}
}

// A significant change of 2 % is found, unless the tolerance is 5 %.
func TestTolerance(t *testing.T) {
	at20 := func(c []Change) bool { return isNear(c, 20) }
	if got := shareOf(t, 40, 0.005, steps(0.02, 20), 0.01, at20); got < 0.95 {
		t.Errorf("found in %.3f", got)
	}
	if got := shareOf(t, 40, 0.005, steps(0.02, 20), 0.05, isAny); got > 0 {
		t.Errorf("found in %.3f despite the tolerance", got)
	}
	// Each of these steps is within the tolerance. Together they exceed it.
	if got := shareOf(t, 60, 0.005, steps(0.04, 20, 40), 0.05, func(c []Change) bool { return len(c) == 1 }); got < 0.95 {
		t.Errorf("two small steps are one change in %.3f", got)
	}
}

func constant(n int, level func(int) float64) []float64 {
	return noisy(rand.New(rand.NewPCG(1, 1)), n, 0, level)
}

func TestConstantHistory(t *testing.T) {
	for name, tc := range map[string]struct {
		values []float64
		want   []int
	}{
		"no change":              {constant(60, unchanged), nil},
		"a step":                 {constant(60, steps(0.10, 30)), []int{30}},
		"two steps":              {constant(60, steps(0.10, 20, 40)), []int{20, 40}},
		"an outlier":             {constant(60, between(0.40, 30, 31)), nil},
		"9 before, 3 after":      {constant(12, steps(0.10, 9)), []int{9}},
		"3 before, 9 after":      {constant(12, steps(0.10, 3)), []int{3}},
		"58 before, 2 after":     {constant(60, steps(0.10, 58)), nil},
		"57 before, 3 after":     {constant(60, steps(0.10, 57)), []int{57}},
		"2 before, 58 after":     {constant(60, steps(0.10, 2)), []int{2}},
		"10 before, 2 after":     {constant(12, steps(0.10, 10)), nil},
		"within the tolerance":   {constant(60, steps(0.04, 30)), nil},
		"largest and smallest":   {slices.Concat(slices.Repeat([]float64{745}, 20), slices.Repeat([]float64{-745}, 20)), []int{20}},
		"changes at every tenth": {constant(100, steps(0.10, 10, 20, 30, 40, 50, 60, 70, 80, 90)), []int{10, 20, 30, 40, 50, 60, 70, 80, 90}},
	} {
		t.Run(name, func(t *testing.T) {
			changes, known := Changes(tc.values, nil, 0.05)
			if !known || !slices.Equal(indexes(changes), tc.want) {
				t.Errorf("%+v, %v, wanted %v", changes, known, tc.want)
			}
			for _, c := range changes {
				if math.IsNaN(c.Before+c.After+c.P) || c.P <= 0 || c.P > level {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

func indexes(changes []Change) (out []int) {
	for _, c := range changes {
		out = append(out, c.Index)
	}
	return out
}

// With less history, no step could be found at its end: 5 values before and 3 after have a least p of 0.036.
func TestUnknown(t *testing.T) {
	for name, values := range map[string][]float64{
		"empty":               nil,
		"5 before, 3 after":   constant(8, steps(0.50, 5)),
		"8 before, 3 after":   constant(11, steps(0.50, 8)),
		"not a number":        append(constant(30, unchanged), math.NaN()),
		"infinite":            append(constant(30, unchanged), math.Inf(1)),
		"the logarithm of 0":  append(constant(30, unchanged), math.Inf(-1)),
		"no float64's":        append(constant(30, unchanged), 1e308),
		"the first is no use": append([]float64{math.NaN()}, constant(30, unchanged)...),
	} {
		if changes, known := Changes(values, nil, 0.05); known || changes != nil {
			t.Errorf("%s: %+v, %v", name, changes, known)
		}
	}
}

func TestAcknowledged(t *testing.T) {
	values := constant(60, steps(0.10, 20, 40))
	nan := slices.Clone(values)
	nan[5] = math.NaN()
	for name, tc := range map[string]struct {
		values       []float64
		acknowledged []int
		want         []int
		known        bool
		segment      int
	}{
		"none":                          {values, nil, []int{20, 40}, true, 40},
		"the first":                     {values, []int{20}, []int{40}, true, 40},
		"the second":                    {values, []int{40}, nil, true, 40},
		"in any order":                  {values, []int{40, 20}, nil, true, 40},
		"one session early":             {values, []int{39}, nil, true, 39},
		"a little history since":        {values, []int{49}, nil, false, 49},
		"the last":                      {values, []int{59}, nil, false, 59},
		"after the end":                 {values, []int{100}, nil, false, 60},
		"before the begin":              {values, []int{-3}, []int{20, 40}, true, 40},
		"values before do not matter":   {nan, []int{20}, []int{40}, true, 40},
		"no values":                     {nil, nil, nil, false, 0},
		"of more than MaxPoints":        {slices.Concat(slices.Repeat([]float64{1}, 100), constant(190, unchanged)), nil, []int{100}, true, 100},
		"the newest MaxPoints are even": {slices.Concat(slices.Repeat([]float64{1}, 100), constant(200, unchanged)), []int{50}, nil, true, 100},
	} {
		t.Run(name, func(t *testing.T) {
			changes, known := Changes(tc.values, tc.acknowledged, 0.05)
			if !slices.Equal(indexes(changes), tc.want) || known != tc.known {
				t.Errorf("%v, %v, wanted %v, %v", indexes(changes), known, tc.want, tc.known)
			}
			if got := Segment(tc.values, tc.acknowledged, changes); got != tc.segment {
				t.Errorf("the segment begins at %d, wanted %d", got, tc.segment)
			}
		})
	}
}

func TestEqualInputEqualOutput(t *testing.T) {
	values := noisy(rand.New(rand.NewPCG(9, 9)), 120, 0.03, steps(0.05, 30, 60, 90))
	before := slices.Clone(values)
	first, _ := Changes(values, []int{3}, 0.02)
	second, _ := Changes(values, []int{3}, 0.02)
	if len(first) == 0 || !slices.Equal(first, second) {
		t.Errorf("%+v, then %+v", first, second)
	}
	if !slices.Equal(values, before) {
		t.Error("the input has changed")
	}
}

func BenchmarkChanges(b *testing.B) {
	for name, level := range map[string]func(int) float64{
		"NoChange":   unchanged,
		"OneChange":  steps(0.20, 100),
		"TenChanges": steps(0.20, 18, 36, 54, 72, 90, 108, 126, 144, 162, 180),
		"All":        func(i int) float64 { return float64(i / 5) },
	} {
		values := noisy(rand.New(rand.NewPCG(4, 4)), MaxPoints, 0.01, level)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Changes(values, nil, 0.05)
			}
		})
	}
}
