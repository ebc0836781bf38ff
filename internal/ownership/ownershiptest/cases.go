package ownershiptest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Target is a real store, and what a client can do there beside the runs.
type Target struct {
	// Claims returns the store for a pod.
	Claims func(t *testing.T, run *ownership.Run) ownership.Store
	// Own returns the name of a key of the load, by its number from 0 to 9; Other returns the name of a key among them that no
	// run writes.
	Own   func(prefix string, number int64) string
	Other func(prefix string) string
	// Put makes a key, Remove deletes it, and Names returns all keys under a prefix, but not what its folders need.
	Put, Remove func(t *testing.T, name string)
	Names       func(t *testing.T, prefix string) []string
	// Steal makes another run the owner of a prefix.
	Steal func(t *testing.T, run *ownership.Run)
	// Full makes the store refuse writes and permit deletions, until end is called. It is nil if the store has no such state.
	Full func(t *testing.T) (end func())
	// Decides: of two nested claims at once, exactly one succeeds; otherwise at most one.
	Decides bool
	// Dates: the store shows that a key was made after the run had ended, also one with the name of a key of the run.
	Dates bool
	// prefix is that of a case.
	prefix string
}

// Run runs all cases.
func Run(t *testing.T, target Target) {
	for name, test := range map[string]func(*testing.T, Target){
		"nested claims at once": nestedClaims, "a nested claim just before": claimBefore, "a crash at each step": crashes, "an answer that is lost": lostAnswers,
		"another owner between two batches": stolenPrefix, "a key that comes before its neighbours are deleted": lateKey,
		"a pod that comes back": slowPod,
	} {
		target.prefix = fmt.Sprintf("bench%d/1/", rand.Uint64())
		t.Run(name, func(t *testing.T) { test(t, target) })
	}
}

func runOf(prefix, uid string, pod int) *ownership.Run {
	return &ownership.Run{Prefix: prefix, UID: uid, Pod: pod, Things: 10, RequestTimeoutSeconds: 1}
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// hooked calls before in front of each step; its error is that of the step.
type hooked struct {
	ownership.Store
	before func(step string) error
	// twice: each step is repeated, as if its first answer had been lost.
	twice bool
}

func step[T any](h *hooked, name string, do func() (T, error)) (answer T, err error) {
	if h.before != nil {
		if err := h.before(name); err != nil {
			return answer, err
		}
	}
	if h.twice {
		if answer, err := do(); err != nil {
			return answer, err
		}
	}
	return do()
}

func (h *hooked) Claim(ctx context.Context, absent []string) (bool, error) {
	return step(h, "Claim", func() (bool, error) { return h.Store.Claim(ctx, absent) })
}

func (h *hooked) Join(ctx context.Context) (bool, error) {
	return step(h, "Join", func() (bool, error) { return h.Store.Join(ctx) })
}

func (h *hooked) Leave(ctx context.Context) (ownership.Release, error) {
	return step(h, "Leave", func() (ownership.Release, error) { return h.Store.Leave(ctx) })
}

func (h *hooked) GiveUp(ctx context.Context, signs map[string]int64) (ownership.Release, error) {
	return step(h, "GiveUp", func() (ownership.Release, error) { return h.Store.GiveUp(ctx, signs) })
}

func (h *hooked) State(ctx context.Context) (owned bool, writers int64, err error) {
	_, err = step(h, "State", func() (any, error) {
		owned, writers, err = h.Store.State(ctx)
		return nil, err
	})
	return owned, writers, err
}

func (h *hooked) Delete(ctx context.Context, s ownership.Batch, released int64) (bool, error) {
	return step(h, "Delete", func() (bool, error) { return h.Store.Delete(ctx, s, released) })
}

func (h *hooked) Abandon(ctx context.Context, released int64) (bool, error) {
	return step(h, "Abandon", func() (bool, error) { return h.Store.Abandon(ctx, released) })
}

// Announce implements ownership.Announcer.
func (h *hooked) Announce(ctx context.Context) error {
	if a, ok := h.Store.(ownership.Announcer); ok {
		return a.Announce(ctx)
	}
	return nil
}

// pod returns the ownership of a pod, whose steps are hooked.
func (g Target) pod(t *testing.T, run *ownership.Run, h *hooked) *ownership.Ownership {
	t.Helper()
	h.Store = g.Claims(t, run)
	return ownership.New(run, h)
}

func claim(t *testing.T, o *ownership.Ownership) {
	t.Helper()
	if err := o.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
}

func (g Target) clean(t *testing.T, run *ownership.Run) error {
	t.Helper()
	return clean(t, g.pod(t, run, &hooked{}))
}

// clean cleans as if the signs of life had stood still.
func clean(t *testing.T, o *ownership.Ownership) error {
	t.Helper()
	signs, err := o.Signs(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	return o.Clean(bounded(t), signs)
}

func (g Target) fill(t *testing.T, run *ownership.Run) {
	t.Helper()
	for number := range int64(10) {
		g.Put(t, g.Own(run.Prefix, number))
	}
}

func (g Target) wantLeft(t *testing.T, when string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if left := g.Names(t, g.prefix); !slices.Equal(left, want) {
		t.Errorf("%s: wanted %q, found %q", when, want, left)
	}
}

func isRefused(err error) bool {
	return err != nil && load.FailureOf(err).Reason == results.FailurePrefixNotEmpty
}

func nestedClaims(t *testing.T, g Target) {
	for round := range 10 {
		root := fmt.Sprintf("nested%d/", round)
		runs := []*ownership.Run{runOf(root, "run-a", 0), runOf(root+"1/", "run-b", 0)}
		pods, errs := make([]*ownership.Ownership, 2), make([]error, 2)
		var claiming sync.WaitGroup
		for i, run := range runs {
			pods[i] = g.pod(t, run, &hooked{})
			claiming.Go(func() { errs[i] = pods[i].Claim(bounded(t)) })
		}
		claiming.Wait()
		succeeded := 0
		for i, err := range errs {
			switch {
			case err == nil:
				succeeded++
				if _, err := pods[i].Release(bounded(t)); err != nil {
					t.Error(err)
				}
			case !isRefused(err):
				t.Error(err)
			}
		}
		if succeeded > 1 || g.Decides && succeeded < 1 {
			t.Fatalf("%d claims have succeeded: %v", succeeded, errs)
		}
		if left := g.Names(t, root); len(left) > 0 {
			t.Fatalf("left %q", left)
		}
	}
}

// claimBefore: a run has looked at the prefixes around its own, and then another one claims, around or below it.
func claimBefore(t *testing.T, g Target) {
	for _, around := range []string{"first/", "second/"} {
		outer, inner := runOf(g.prefix+around, "run-a", 0), runOf(g.prefix+around+"1/", "run-b", 0)
		first, second := inner, outer
		if around == "second/" {
			first, second = outer, inner
		}
		before := g.pod(t, first, &hooked{})
		h := &hooked{before: func(step string) error {
			if step == "Claim" {
				if err := before.Claim(bounded(t)); err != nil {
					t.Error(err)
				}
			}
			return nil
		}}
		if err := g.pod(t, second, h).Claim(bounded(t)); !isRefused(err) {
			t.Errorf("%s claims %s after %s: %v", second.UID, second.Prefix, first.Prefix, err)
		}
		if _, err := before.Release(bounded(t)); err != nil {
			t.Error(err)
		}
	}
}

var errCrash = errors.New("the process has ended")

// crashes ends a pod before each of its steps, and before each step of a first cleanup. A second cleanup leaves nothing.
func crashes(t *testing.T, g Target) {
	for _, isCleanup := range []bool{false, true} {
		for last := 1; ; last++ {
			steps := 0
			h := &hooked{before: func(string) error {
				if steps++; steps >= last {
					return errCrash
				}
				return nil
			}}
			run := runOf(g.prefix, "run-a", 0)
			o, first := g.pod(t, run, &hooked{}), g.pod(t, run, h)
			if !isCleanup {
				o = first
			}
			err := o.Claim(bounded(t))
			if err == nil {
				g.fill(t, run)
				if isCleanup {
					err = clean(t, first)
				} else {
					_, err = o.Release(bounded(t))
				}
			}
			crashed := steps >= last
			if (err != nil) != crashed {
				t.Errorf("step %d: %v", last, err)
			}
			if err := g.clean(t, run); err != nil {
				t.Errorf("cleaning after step %d: %v", last, err)
			}
			g.wantLeft(t, "after the cleanup")
			if !crashed {
				break
			}
		}
	}
}

func lostAnswers(t *testing.T, g Target) {
	loseAnswers(t, g, func(*testing.T) (end func()) { return func() {} })
	if g.Full != nil {
		loseAnswers(t, g, g.Full)
	}
}

// loseAnswers loses the answers of a pod, which writes after another one has left, and then of a cleanup. The store is full
// when the keys are deleted.
func loseAnswers(t *testing.T, g Target, full func(*testing.T) (end func())) {
	run := runOf(g.prefix, "run-a", 0)
	o, other := g.pod(t, run, &hooked{twice: true}), g.Claims(t, runOf(g.prefix, "run-a", 1))
	claim(t, o)
	if joined, err := other.Join(bounded(t)); !joined || err != nil {
		t.Fatal(joined, err)
	}
	if _, err := other.Leave(bounded(t)); err != nil {
		t.Fatal(err)
	}
	g.fill(t, run)
	end := full(t)
	if _, err := o.Release(bounded(t)); err != nil {
		t.Error(err)
	}
	end()
	g.wantLeft(t, "after the release")
	claim(t, o)
	g.fill(t, run)
	end = full(t)
	if err := clean(t, o); err != nil {
		t.Error(err)
	}
	end()
	g.wantLeft(t, "after the cleanup")
}

// stolenPrefix: nothing is deleted once another run has become the owner.
func stolenPrefix(t *testing.T, g Target) {
	run := runOf(g.prefix, "run-a", 0)
	var before []string
	h := &hooked{}
	o := g.pod(t, run, h)
	claim(t, o)
	g.fill(t, run)
	h.before = func(step string) error {
		if step == "Abandon" {
			g.Steal(t, run)
			g.Put(t, g.Own(g.prefix, 3))
			before = g.Names(t, g.prefix)
		}
		return nil
	}
	_, err := o.Release(bounded(t))
	if err != nil && !isRefused(err) {
		t.Error(err)
	}
	g.wantLeft(t, "after the release", before...)
	for _, name := range before {
		g.Remove(t, name)
	}
}

// lateKey: a key of others that comes between the listing and the deletion stays, and so does the marker.
func lateKey(t *testing.T, g Target) {
	run := runOf(g.prefix, "run-a", 0)
	other, came := g.Other(g.prefix), false
	h := &hooked{}
	o := g.pod(t, run, h)
	claim(t, o)
	g.fill(t, run)
	h.before = func(step string) error {
		if step == "Delete" && !came {
			came = true
			g.Put(t, other)
		}
		return nil
	}
	if _, err := o.Release(bounded(t)); !isRefused(err) {
		t.Errorf("wanted an error about keys of others, found %v", err)
	}
	left := g.Names(t, g.prefix)
	if !slices.Contains(left, other) || len(left) != 2 {
		t.Errorf("wanted the marker and %q, found %q", other, left)
	}
	g.Remove(t, other)
	if err := g.clean(t, run); err != nil {
		t.Error(err)
	}
	g.wantLeft(t, "once the key of others is gone")
}

// slowPod: a pod that was given up, and comes back, writes no sign of life, and deletes nothing that came since.
func slowPod(t *testing.T, g Target) {
	run := runOf(g.prefix, "run-a", 0)
	slow := g.pod(t, run, &hooked{})
	claim(t, slow)
	g.fill(t, run)
	other := g.Other(g.prefix)
	g.Put(t, other)
	if err := g.clean(t, run); !isRefused(err) {
		t.Errorf("wanted an error about keys of others, found %v", err)
	}
	later := other
	if g.Dates {
		later = g.Own(g.prefix, 5)
	}
	g.Put(t, later)
	if err := slow.Sign(bounded(t)); !errors.Is(err, load.ErrDisowned) {
		t.Errorf("a pod that was given up signs: %v", err)
	}
	before := g.Names(t, g.prefix)
	if _, err := slow.Release(bounded(t)); !isRefused(err) {
		t.Errorf("wanted an error about keys of others, found %v", err)
	}
	g.wantLeft(t, "after the pod that came back", before...)
	g.Remove(t, other)
	g.Remove(t, later)
	if err := g.clean(t, run); err != nil {
		t.Error(err)
	}
	g.wantLeft(t, "once the keys of others are gone")
}
