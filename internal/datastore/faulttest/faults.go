// Package faulttest puts a load on three members of a store, and stops and kills members meanwhile.
//
// Only tests import it.
package faulttest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Member is a process that belongs to the store.
type Member interface {
	// Pause stops it until the function that it returns is called. Kill ends it.
	Pause(t *testing.T) (resume func())
	Kill()
}

// limit bounds the whole run.
const limit = 2 * time.Minute

// Change gives a plan a load that lasts until it is stopped: reads and writes of existing keys, with more clients than wait for
// members that are away.
func Change(p *plan.Plan) {
	p.Workload = spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
		ReadPercent: 50, Consistency: spec.Serializable,
		Keys:   spec.Keys{Count: 1_000, SizeBytes: 8, Distribution: spec.Uniform},
		Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 64},
	}}
	p.Load.Requests, p.Load.DurationSeconds, p.Load.RequestTimeoutSeconds = nil, new(int32(limit/time.Second)), 1
	p.Load.Rate = &spec.Rate{PerSecond: 200, Arrival: spec.ArrivalConstant}
	p.Load.Connections, p.Load.Clients = 600, 600
}

// control starts the load at once, and stops it when it is told.
type control struct{ stop chan struct{} }

func (control) StartAt(context.Context) (time.Time, error) { return time.Now(), nil }
func (control) Admitted(context.Context) error             { return nil }
func (c control) Stopped() <-chan struct{}                 { return c.stop }

// Run runs the plan over three members, of which one leads. A follower pauses, then the two followers, then the leader is
// killed. After each fault, requests succeed again. Every request is accounted for, those that failed have the right code, and
// the keys are deleted.
func Run(t *testing.T, p plan.Plan, d load.Driver, leader Member, followers [2]Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := control{make(chan struct{})}
	session, err := load.NewSession(load.Config{Plan: p, Driver: d, Control: c})
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := session.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	stop := sync.OnceFunc(func() { close(c.stop) })
	defer stop()

	await := func(what string, succeeded, failed uint64) {
		t.Helper()
		before, beforeFailed := ended(session.Snapshot())
		for {
			now, nowFailed := ended(session.Snapshot())
			if now >= before+succeeded && nowFailed >= beforeFailed+failed {
				return
			}
			select {
			case <-ctx.Done():
				t.Fatalf("%s: wanted %d requests that succeed and %d that fail, found %d and %d within %v", what, succeeded, failed, now-before, nowFailed-beforeFailed, limit)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	await("at first", 100, 0)
	resume := followers[0].Pause(t)
	await("a follower pauses", 100, 10)
	resume()
	await("after it", 200, 0)
	resumeBoth := []func(){followers[0].Pause(t), followers[1].Pause(t)}
	await("no quorum", 0, 100)
	for _, resume := range resumeBoth {
		resume()
	}
	await("after it", 200, 0)
	leader.Kill()
	await("the leader is killed", 0, 10)
	await("after it", 200, 0)
	stop()
	running.Wait()
	check(t, session.Snapshot())
}

func check(t *testing.T, s *results.Snapshot) {
	t.Helper()
	if succeeded, failed := ended(s); succeeded+failed != s.Started {
		t.Errorf("%d requests were sent, %d succeeded and %d failed", s.Started, succeeded, failed)
	}
	checkCodes(t, s)
	if s.Cleaning != results.CleaningKeysDeleted || s.Failure != nil {
		t.Errorf("ended with %s, %+v", s.Cleaning, s.Failure)
	}
}

// checkCodes checks that no request failed for another reason than a member that does not serve.
func checkCodes(t *testing.T, s *results.Snapshot) {
	t.Helper()
	for operation, o := range s.Operations {
		for code, n := range o.Errors {
			if code != load.CodeUnavailable && code != load.CodeDeadlineExceeded {
				t.Errorf("%d requests of %s failed as %s", n, operation, code)
			}
		}
	}
}

// ended adds up how the measured requests ended.
func ended(s *results.Snapshot) (succeeded, failed uint64) {
	for _, o := range s.Operations {
		succeeded += o.Latency.Count()
		failed += o.Failed.Count()
	}
	return succeeded, failed
}

// Fill overwrites values, 200 MB in all, on a member whose disk is smaller. The run ends because no member serves, and says that it left keys.
func Fill(t *testing.T, p plan.Plan, d load.Driver) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	session, err := load.NewSession(load.Config{Plan: p, Driver: d, Control: control{}})
	if err != nil {
		t.Fatal(err)
	}
	err = session.Run(ctx)
	s := session.Snapshot()
	if err == nil || s.Failure == nil || s.Failure.Reason != results.FailureTargetLost || s.Cleaning != results.CleaningKeysLeft {
		t.Errorf("wanted a lost target with keys left, found %v, %+v, %s", err, s.Failure, s.Cleaning)
	}
	succeeded, failed := ended(s)
	unanswered := s.Operations[spec.OperationPut].Censored.Count()
	if succeeded == 0 || failed == 0 || succeeded+failed+unanswered != s.Started {
		t.Errorf("%d requests were sent, %d succeeded, %d failed and %d have no response, wanted some of the first two", s.Started, succeeded, failed, unanswered)
	}
	checkCodes(t, s)
}

// Large gives a plan the puts of Fill.
func Large(p *plan.Plan) {
	p.Workload = spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
		Overwrite: true,
		Keys:      spec.Keys{Count: 100, SizeBytes: 8, Distribution: spec.Sequential},
		Values:    spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 100_000},
	}}
	p.Load.Requests, p.Load.RequestTimeoutSeconds = new(int64(2_000)), 1
}

// OnSmallDisk returns the arguments that run a program with a new disk of 64 MB in this folder. It belongs to the process. The
// kernel forgets the signal of processtest when a user gets the rights of a new namespace, so it is set again.
func OnSmallDisk(folder string, args []string) []string {
	return append([]string{
		"unshare", "--map-root-user", "--mount", "sh", "-c", `mkdir "$0" && mount -t tmpfs -o size=64m tmpfs "$0" && exec setpriv --pdeathsig KILL "$@"`, folder,
	}, args...)
}
