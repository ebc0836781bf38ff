package buffer_test

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"
)

// A pool returns the given buffers, empty, the last one first.
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

// TakeRoom reuses a buffer that is long enough. Otherwise it allocates exactly the wanted length.
func TestTakeRoom(t *testing.T) {
	var p buffer.Pool
	if b := p.TakeRoom(1000); len(b) != 0 || cap(b) != 1000 {
		t.Errorf("got %d bytes in room for %d", len(b), cap(b))
	}
	p.Give(make([]byte, 10, 2000))
	if b := p.TakeRoom(2001); len(b) != 0 || cap(b) != 2001 {
		t.Errorf("with a shorter buffer in the pool: got %d bytes in room for %d", len(b), cap(b))
	}
	if b := p.TakeRoom(1000); len(b) != 0 || cap(b) != 2000 {
		t.Errorf("with a buffer of 2000 in the pool: got %d bytes in room for %d", len(b), cap(b))
	}
}

// A pool keeps at most KeptBytes, in few long buffers or many short ones. Buffers that were taken no longer count.
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
