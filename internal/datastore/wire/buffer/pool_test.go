package buffer_test

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire/buffer"
)

// A pool gives out what it was given, empty, the last one first.
func TestPoolGivesBack(t *testing.T) {
	var p buffer.Pool
	if b := p.Take(); b != nil {
		t.Errorf("an empty pool gave a buffer of %d", cap(b))
	}
	p.Give(nil)
	p.Give(make([]byte, 10, 100))
	p.Give(make([]byte, 10, 200))
	for _, want := range []int{200, 100, 0} {
		if b := p.Take(); cap(b) != want || len(b) != 0 {
			t.Errorf("got %d bytes in room for %d, wanted room for %d", len(b), cap(b), want)
		}
	}
}

// Room that is wanted is that of a buffer from before, if that has enough, and else
// exactly as long as it is wanted.
func TestTakeRoom(t *testing.T) {
	var p buffer.Pool
	if b := p.TakeRoom(1000); len(b) != 0 || cap(b) != 1000 {
		t.Errorf("got %d bytes in room for %d", len(b), cap(b))
	}
	p.Give(make([]byte, 10, 2000))
	if b := p.TakeRoom(2001); len(b) != 0 || cap(b) != 2001 {
		t.Errorf("beside a shorter one: got %d bytes in room for %d", len(b), cap(b))
	}
	if b := p.TakeRoom(1000); len(b) != 0 || cap(b) != 2000 {
		t.Errorf("the one from before is gone: got %d bytes in room for %d", len(b), cap(b))
	}
}

// A pool keeps so many bytes, in few long buffers or in many short ones, and what it
// has given out counts no more.
func TestPoolIsBounded(t *testing.T) {
	for _, length := range []int{buffer.KeptBytes, buffer.KeptBytes / 3, 1 << 20, 1000} {
		var p buffer.Pool
		fit := buffer.KeptBytes / length
		for range 2 {
			for range fit + 10 {
				p.Give(make([]byte, 0, length))
			}
			kept := 0
			for p.Take() != nil {
				kept++
			}
			if kept != fit {
				t.Errorf("%d buffers of %d bytes are kept, wanted %d", kept, length, fit)
			}
		}
		p.Give(make([]byte, 0, buffer.KeptBytes+1))
		if b := p.Take(); b != nil {
			t.Errorf("a buffer of %d bytes is kept", cap(b))
		}
	}
}
