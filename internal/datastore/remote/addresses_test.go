package remote

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The connections of all pods are spread over the addresses that answer, and each pod compares its own with a limit.
func TestAddresses(t *testing.T) {
	down := load.Errorf(results.FailureTargetUnreachable, "it does not answer: %w", ErrClosed)
	p := plan.Plan{Target: plan.Target{Endpoints: []string{"a:1", "b:1", "c:1"}, UnreachableMembers: spec.UnreachableSkip}}
	p.Load = spec.Load{Pods: 2, Connections: 10, Clients: 10, Requests: new(int64(10))}
	a := NewAddresses(p, 1)
	// This pod has the connections 5 to 9.
	if a.Of(5) != "c:1" || a.Of(6) != "a:1" || a.Fit("c:1", 4, 2, "x", "a file") != nil || a.Fit("b:1", 3, 2, "x", "a file") != nil || a.Fit("c:1", 0, 9, "x", "a file") != nil {
		t.Errorf("found %s and %s for the connections 5 and 6, and limits that are too low", a.Of(5), a.Of(6))
	}
	if err := a.Fit("c:1", 3, 2, "its setting", "a file"); err == nil || !strings.Contains(err.Error(), "its setting") || !strings.Contains(err.Error(), "2 for the load and 2 beside it") {
		t.Errorf("found %v", err)
	}
	own := p
	own.Ephemeral = true
	if err := NewAddresses(own, 1).Fit("c:1", 3, 2, "its setting", "a file"); err == nil || !strings.Contains(err.Error(), "spec.target.ephemeral.settings") || strings.Contains(err.Error(), "a file") {
		t.Errorf("of members of the run: found %v", err)
	}
	one := p
	one.Target.MemberIndex = new(1)
	if of := NewAddresses(one, 1); of.Of(5) != "b:1" || of.Of(6) != "b:1" || of.Fit("b:1", 6, 2, "x", "a file") == nil || len(of.Loaded()) != 3 {
		t.Errorf("one member alone: found %s and %s, and %v are asked", of.Of(5), of.Of(6), of.Loaded())
	}
	if _, skipped, err := a.Skip([]error{nil, down, nil}); err != nil || len(skipped) != 1 || a.Of(5) != "c:1" || a.Of(6) != "a:1" || a.Of(7) != "c:1" {
		t.Errorf("skips %v, %v, and loads %v", skipped, err, a.Loaded())
	}
}

// An error about a lost quorum comes before those of addresses that do not answer, and no address is skipped then.
func TestAskFindsALostQuorum(t *testing.T) {
	p := plan.Plan{Target: plan.Target{Endpoints: []string{"a:1", "b:1", "c:1"}, UnreachableMembers: spec.UnreachableSkip}}
	a := NewAddresses(p, 0)
	down, lost := load.Errorf(results.FailureTargetUnreachable, "it does not answer: %w", ErrClosed), load.Errorf(results.FailureNoQuorum, "no quorum")
	ask := func(errs map[string]error) ([]string, map[string]string, error) {
		never := func(error) bool { return false }
		explain := func(err error, _ string) error { return err }
		return Ask(t.Context(), a, never, explain, func(_ context.Context, address string) (string, error) { return "of " + address, errs[address] })
	}
	if _, _, err := ask(map[string]error{"a:1": down, "c:1": lost}); !errors.Is(err, lost) {
		t.Errorf("found %v, wanted the lost quorum", err)
	}
	answers, skipped, err := ask(map[string]error{"a:1": down})
	if err != nil || len(skipped) != 1 || !slices.Equal(answers, []string{"of b:1", "of c:1"}) || !slices.Equal(a.Loaded(), []string{"b:1", "c:1"}) {
		t.Errorf("got %q without %v, %v, and loads %q", answers, skipped, err, a.Loaded())
	}
}

// A member that does not answer has a problem in place of its state. Addresses that the run skips are not asked.
func TestStatesHaveProblems(t *testing.T) {
	a := NewAddresses(plan.Plan{Target: plan.Target{Endpoints: []string{"a:1", "b:1", "c:1"}}}, 0)
	a.reached = []string{"a:1", "b:1"}
	got := a.States(func(address string) (members.State, error) {
		if address == "b:1" {
			return members.State{Leader: "x"}, ErrClosed
		}
		return members.State{Leader: address}, nil
	})
	samples := a.Samples(func(address string) (s members.Sample, err error) { return s, ErrClosed })
	if problem := samples[Hashed("b:1")].Problem; len(samples) != 2 || !strings.HasPrefix(problem, results.UnreadMetrics) || !strings.Contains(problem, "b:1") {
		t.Errorf("got the samples %+v", samples)
	}
	want := map[string]members.State{Hashed("a:1"): {Leader: "a:1"}, Hashed("b:1"): {Problem: ErrClosed.Error()}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGuard(t *testing.T) {
	holds := func(what string) (bool, error) { return what == "b/", nil }
	tenants := map[string]string{"a/": "A", "b/": "B"}
	p := plan.Plan{}
	err := NewAddresses(p, 0).Guard("Store", tenants, holds)
	if failure := load.FailureOf(err); failure == nil || failure.Reason != results.FailureControlPlaneTarget || !strings.Contains(failure.Message, "b/, which B uses") {
		t.Errorf("found %v", err)
	}
	p.Guard.AcknowledgeControlPlane = true
	if err := NewAddresses(p, 0).Guard("Store", tenants, holds); err != nil {
		t.Error(err)
	}
}
