package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// signAgain is when a sign of life that was not confirmed is repeated.
const signAgain = 5 * time.Second

// Errors of a sign of life. Any other error means that it was not confirmed.
var (
	// ErrDisowned: the pod may not write any more.
	ErrDisowned = errors.New("the key of the client pod, or the marker of the run, is gone")
	// ErrRefused: the store answers and refuses, for example because its database is full.
	ErrRefused = errors.New("the store refuses the client pod's sign of life")
)

// permit is the permission to send, which the store confirms with each sign of life (plan.StillFor). Its zero value is
// closed. A process that is frozen between its look at the permit and the send still sends; one whose clock stands still
// meanwhile also sends until its next sign.
type permit struct {
	// until is when the permission ends, as Instant.
	until atomic.Int64

	mutex sync.Mutex
	// renewed is closed with the next confirmed sign. wakers are called after each one.
	renewed chan struct{}
	wakers  []func()
}

// isOpen is looked at before each request.
func (p *permit) isOpen() bool { return int64(Now()) < p.until.Load() }

// extend permits requests until plan.SendFor after a sign was sent. Then it wakes those that wait.
func (p *permit) extend(signed Instant) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.until.Store(max(p.until.Load(), int64(signed.Add(plan.SendFor))))
	if p.renewed != nil {
		close(p.renewed)
		p.renewed = nil
	}
	for _, wake := range p.wakers {
		wake()
	}
}

// end withdraws the permission.
func (p *permit) end() { p.until.Store(0) }

// onRenewal adds a function that extend calls; it must not block.
func (p *permit) onRenewal(wake func()) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.wakers = append(p.wakers, wake)
}

// await waits until requests are permitted, or ctx ends. It returns when a wait has ended; 0 if there was none.
func (p *permit) await(ctx context.Context) (waited Instant, open bool) {
	for !p.isOpen() {
		select {
		case <-p.renewal():
		case <-ctx.Done():
			return 0, false
		}
		waited = Now()
	}
	return waited, true
}

func (p *permit) renewal() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.renewed == nil {
		p.renewed = make(chan struct{})
	}
	if p.isOpen() {
		// A sign was confirmed after the caller's look.
		renewed := make(chan struct{})
		close(renewed)
		return renewed
	}
	return p.renewed
}

// signs renews a pod's sign of life.
type signs struct {
	driver Driver
	permit *permit
	// lost is called once if the pod has lost its permission for good.
	lost func(error)

	stop    context.CancelFunc
	signing sync.WaitGroup
	mutex   sync.Mutex
	// last is when the last confirmed sign was sent. problem is what became of the newest sign that has ended, which was sent
	// at an instant; nil if it was confirmed.
	last, newest Instant
	problem      error
}

// begin starts the signs of a pod whose claim was sent at an instant.
func (s *signs) begin(claimed Instant) {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.confirm(claimed)
	s.signing.Go(func() {
		ticker := time.NewTicker(signAgain)
		defer ticker.Stop()
		for s.proceed(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// proceed sends the next sign if it is due. It does not wait for the answer: a member that hangs must not delay the sign to
// another one. It returns false if the pod has lost its permission for good.
func (s *signs) proceed(ctx context.Context) bool {
	s.mutex.Lock()
	last, newest, problem := s.last, s.newest, s.problem
	s.mutex.Unlock()
	since := Now().Sub(last)
	// Signs after the newest that has ended wait for an answer: then the target no longer refuses, but does not answer.
	isRefused := errors.Is(problem, ErrRefused) && Now().Sub(newest) < 2*signAgain
	if errors.Is(problem, ErrDisowned) || isRefused && since > plan.SendFor {
		s.permit.end()
		s.lost(Errorf(results.FailureOwnershipLost,
			"the client pod sends nothing any more: %w. Its last sign of life was confirmed %s before. Find out "+
				"what changed the keys of the run, or why the target refuses to write them", problem, text.Duration(since)))
		return false
	}
	if since >= plan.SignEvery-signAgain/2 {
		s.signing.Go(func() { s.sign(ctx) })
	}
	return true
}

func (s *signs) sign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, plan.SignEvery)
	defer cancel()
	sent := Now()
	err := s.driver.Sign(ctx)
	switch {
	case err == nil:
		s.confirm(sent)
	case ctx.Err() != context.Canceled:
		s.note(sent, err)
	}
}

func (s *signs) confirm(sent Instant) {
	s.note(sent, nil)
	s.permit.extend(sent)
}

func (s *signs) note(sent Instant, problem error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if problem == nil {
		s.last = max(s.last, sent)
	}
	if sent >= s.newest {
		s.newest, s.problem = sent, problem
	}
}

// end returns after the last sign.
func (s *signs) end() {
	if s.stop != nil {
		s.stop()
		s.signing.Wait()
	}
}
