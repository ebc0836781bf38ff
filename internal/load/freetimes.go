package load

import "sync"

// freeTimes holds since when the free clients of an open loop are free, in the order in which they reported it. The
// request that takes an entry could be sent from then on, by any client: this tells the wait for a free client from the
// generator's own delay. Two clients that become free at nearly the same time can report it in the other order; the sum
// over both requests stays the same.
type freeTimes struct {
	mutex sync.Mutex
	// since is a ring with room for all clients.
	since         []Instant
	first, length int
}

// newFreeTimes returns the times of this many clients, which have all been free since the beginning.
func newFreeTimes(clients int) *freeTimes {
	return &freeTimes{since: make([]Instant, clients), length: clients}
}

// put adds a client that became free.
func (f *freeTimes) put(since Instant) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.since[(f.first+f.length)%len(f.since)] = since
	f.length++
}

// take removes the first entry. There must be one.
func (f *freeTimes) take() (since Instant) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	since = f.since[f.first]
	f.first = (f.first + 1) % len(f.since)
	f.length--
	return since
}

// before counts the clients that became free before an instant.
func (f *freeTimes) before(at Instant) (n int64) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for i := range f.length {
		if f.since[(f.first+i)%len(f.since)] < at {
			n++
		}
	}
	return n
}
