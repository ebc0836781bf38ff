package load

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// sharedDriver has connections that keep state for each client.
type sharedDriver struct {
	*fakeDriver
	fail  error
	mutex sync.Mutex
	seen  []int
}

func (d *sharedDriver) Connect(ctx context.Context, connection int) (Conn, error) {
	conn, err := d.fakeDriver.Connect(ctx, connection)
	return &sharedConn{Conn: conn, driver: d}, err
}

type sharedConn struct {
	Conn
	driver *sharedDriver
}

func (c *sharedConn) Client(_ context.Context, client int) (Conn, error) {
	d := c.driver
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !slices.Contains(d.steps, "claim") {
		return nil, errors.New("the prefix is not claimed yet")
	}
	d.seen = append(d.seen, client)
	return c.Conn, d.fail
}

func TestEachClientHasItsOwnStateOfASharedConnection(t *testing.T) {
	p := planOf(func(p *plan.Plan) { p.Load.Pods, p.Load.Connections, p.Load.Clients = 2, 3, 8 })
	var seen []int
	for index := range p.Pods() {
		d := &sharedDriver{fakeDriver: &fakeDriver{}}
		s, err := NewSession(Config{Plan: p, Index: index, Driver: d, Control: newControl()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, d.seen...)
	}
	slices.Sort(seen)
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7}; !slices.Equal(seen, want) {
		t.Errorf("the clients of two pods are %v, wanted %v", seen, want)
	}
}

func TestASessionFailsIfAClientGetsNoConnection(t *testing.T) {
	d := &sharedDriver{fakeDriver: &fakeDriver{}, fail: errors.New("no stream")}
	s, err := NewSession(Config{Plan: planOf(), Driver: d, Control: newControl()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); !errors.Is(err, d.fail) {
		t.Errorf("got %v, wanted %v", err, d.fail)
	}
	if !d.released.Load() {
		t.Error("the prefix was claimed and not released")
	}
}
