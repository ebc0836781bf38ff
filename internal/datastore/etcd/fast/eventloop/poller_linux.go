package eventloop

import (
	"fmt"
	"io"
	"math"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// eventsAtOnce is how many events one epoll_wait returns.
const eventsAtOnce = 512

// Slots of the poller's own descriptors.
const (
	wakeSlot  = -1
	timerSlot = -2
)

// epoll is the poller of Linux. A wait blocks a thread. This costs less than parking a goroutine in the runtime's
// poller and waking it.
type epoll struct {
	fd, wakeFD, timerFD int
	// links by slot. An event carries the slot.
	links  []*Link
	free   []int32
	events [eventsAtOnce]unix.EpollEvent
	clock  load.KernelClock
	// armed is the instant to which the timer is set.
	armed load.Instant
}

func newPoller() (poller, error) {
	p := &epoll{fd: -1, wakeFD: -1, timerFD: -1, armed: never}
	if err := p.init(); err != nil {
		p.close()
		return nil, fmt.Errorf("an event loop needs epoll, eventfd and timerfd: %w", err)
	}
	return p, nil
}

func (p *epoll) init() (err error) {
	if p.fd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if p.wakeFD, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return err
	}
	if p.timerFD, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return err
	}
	if p.clock, err = load.NewKernelClock(); err != nil {
		return err
	}
	if err := p.control(unix.EPOLL_CTL_ADD, p.wakeFD, wakeSlot, unix.EPOLLIN); err != nil {
		return err
	}
	// Edge-triggered, so that an expired timer need not be disarmed.
	return p.control(unix.EPOLL_CTL_ADD, p.timerFD, timerSlot, unix.EPOLLIN|unix.EPOLLET)
}

func (p *epoll) control(op, fd int, slot int32, events uint32) error {
	return unix.EpollCtl(p.fd, op, fd, &unix.EpollEvent{Events: events, Fd: slot})
}

// adopt duplicates the connection's descriptor and closes the connection, so that the runtime's poller forgets it.
func (p *epoll) adopt(conn net.Conn, k *Link) (Socket, error) {
	defer conn.Close()
	fd, err := duplicate(conn)
	if err != nil {
		return nil, err
	}
	slot := p.takeSlot(k)
	if err := p.control(unix.EPOLL_CTL_ADD, fd, slot, unix.EPOLLIN); err != nil {
		p.giveSlot(slot)
		_ = unix.Close(fd)
		return nil, err
	}
	return &descriptor{poller: p, fd: fd, slot: slot}, nil
}

func duplicate(conn net.Conn) (fd int, err error) {
	sys, ok := conn.(syscall.Conn)
	if !ok {
		return 0, fmt.Errorf("a %T has no descriptor", conn)
	}
	raw, err := sys.SyscallConn()
	if err != nil {
		return 0, err
	}
	var derr error
	err = raw.Control(func(own uintptr) { fd, derr = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil {
		err = derr
	}
	return fd, err
}

func (p *epoll) takeSlot(k *Link) int32 {
	if n := len(p.free); n > 0 {
		slot := p.free[n-1]
		p.free = p.free[:n-1]
		p.links[slot] = k
		return slot
	}
	p.links = append(p.links, k)
	return int32(len(p.links) - 1)
}

func (p *epoll) giveSlot(slot int32) {
	p.links[slot] = nil
	p.free = append(p.free, slot)
}

func (p *epoll) wait(ready []*Link, coarse, exact load.Instant) []*Link {
	n, err := unix.EpollWait(p.fd, p.events[:], p.timeout(coarse, exact))
	if err != nil {
		return ready
	}
	for i := range p.events[:n] {
		switch slot := p.events[i].Fd; slot {
		case wakeSlot:
			var count [8]byte
			_, _ = unix.Read(p.wakeFD, count[:])
		case timerSlot:
			p.armed = never
		default:
			if k := p.links[slot]; k != nil {
				ready = append(ready, k)
			}
		}
	}
	return ready
}

// timeout returns the wait in milliseconds, -1 without limit. It sets the timer if an exact instant comes earlier.
func (p *epoll) timeout(coarse, exact load.Instant) int {
	if coarse == 0 {
		return 0
	}
	if exact < never {
		if exact <= load.Now() {
			return 0
		}
		p.arm(exact)
	}
	if coarse == never {
		return -1
	}
	wait := (coarse.Sub(load.Now()) + time.Millisecond - 1) / time.Millisecond
	return int(min(max(wait, 0), math.MaxInt32))
}

// arm sets the timer to an instant, unless it is already set to it.
func (p *epoll) arm(at load.Instant) {
	if at != p.armed {
		p.armed = at
		_ = p.clock.SetTimer(p.timerFD, at)
	}
}

func (p *epoll) wake() {
	one := [8]byte{1}
	_, _ = unix.Write(p.wakeFD, one[:])
}

func (p *epoll) exact() bool { return true }

func (p *epoll) close() {
	for _, fd := range []int{p.fd, p.wakeFD, p.timerFD} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// descriptor is a socket of the epoll poller.
type descriptor struct {
	poller   *epoll
	fd       int
	slot     int32
	writable bool
}

func (d *descriptor) Read(p []byte) (int, error) {
	n, err := unix.Read(d.fd, p)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0, ErrNotReady
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (d *descriptor) Write(p []byte) (int, error) {
	n, err := unix.Write(d.fd, p)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0, ErrNotReady
	case err != nil:
		return 0, err
	}
	return n, nil
}

func (d *descriptor) NotifyWritable(on bool) {
	if on == d.writable {
		return
	}
	d.writable = on
	events := uint32(unix.EPOLLIN)
	if on {
		events |= unix.EPOLLOUT
	}
	_ = d.poller.control(unix.EPOLL_CTL_MOD, d.fd, d.slot, events)
}

func (d *descriptor) Close() {
	d.poller.giveSlot(d.slot)
	_ = unix.Close(d.fd)
}

func (d *descriptor) Buffers() bool { return false }
func (d *descriptor) Pending() bool { return false }
