package unary

import (
	"math/rand/v2"
	"testing"
)

// A table behaves like a map of streams by id, in any order of insertions and removals, even if a stream stays while
// the ids go round the ring many times.
func TestTableIsAMap(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		var table table
		want := map[uint32]*Stream{}
		var open []*Stream
		for id := uint32(1); id < 20_000; id += 2 {
			s := &Stream{id: id}
			table.put(s)
			want[id] = s
			open = append(open, s)
			// Most streams end soon, some stay, and at times many are open.
			for atMost := 1 + int(id/4000)*30; len(open) > atMost; {
				i := random.IntN(len(open))
				if i == 0 && random.IntN(50) > 0 {
					continue
				}
				table.remove(open[i])
				delete(want, open[i].id)
				open = append(open[:i], open[i+1:]...)
			}
			if table.length != len(want) {
				t.Fatalf("%d streams, wanted %d", table.length, len(want))
			}
		}
		for id := uint32(1); id < 20_000; id++ {
			if got := table.at(id); got != want[id] {
				t.Fatalf("stream %d is %v, wanted %v", id, got, want[id])
			}
		}
		n := 0
		for s := range table.all() {
			if n++; want[s.id] != s {
				t.Fatalf("stream %d is listed", s.id)
			}
		}
		if n != len(want) {
			t.Errorf("%d streams are listed, wanted %d", n, len(want))
		}
	}
}

// A stream that stays open for long does not make the ring grow for all later ones.
func TestTableStaysSmall(t *testing.T) {
	var table table
	table.put(&Stream{id: 1})
	for id := uint32(3); id < 100_000; id += 2 {
		s := &Stream{id: id}
		table.put(s)
		table.remove(s)
	}
	if len(table.ring) > 2*firstPlaces || len(table.others) > 0 {
		t.Errorf("two streams at a time take a ring of %d, %d beside it", len(table.ring), len(table.others))
	}
}
