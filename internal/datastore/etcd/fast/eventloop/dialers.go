package eventloop

import "sync"

// dialsAtOnce is the default of Config.DialsAtOnce. It hides the round trips of TLS, and is too small to overload the target.
const dialsAtOnce = 32

// dialers dial with a few goroutines for each address. So an address that does not answer does not delay the others, and
// dials that wait have no goroutine.
type dialers struct {
	// atOnce is how many goroutines an address has at most.
	atOnce int

	mutex     sync.Mutex
	byAddress map[string]*dialQueue
}

// dialQueue has the dials to an address that wait for one of its goroutines.
type dialQueue struct {
	running int
	waiting []func()
}

// do calls dial on a goroutine, after those that were given before.
func (d *dialers) do(address string, dial func()) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	q := d.byAddress[address]
	if q == nil {
		q = &dialQueue{}
		d.byAddress[address] = q
	}
	if q.running == d.atOnce {
		q.waiting = append(q.waiting, dial)
		return
	}
	q.running++
	go d.work(q, dial)
}

func (d *dialers) work(q *dialQueue, dial func()) {
	for ; dial != nil; dial = d.next(q) {
		dial()
	}
}

// next returns the dial that has waited longest; nil if none waits.
func (d *dialers) next(q *dialQueue) (dial func()) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if len(q.waiting) == 0 {
		q.running--
		return nil
	}
	dial, q.waiting[0] = q.waiting[0], nil
	q.waiting = q.waiting[1:]
	return dial
}
