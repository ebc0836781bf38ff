package remote

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
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
	if a.Of(5) != "c:1" || a.Of(6) != "a:1" || a.Fit("c:1", 4, 2, "x") != nil || a.Fit("b:1", 3, 2, "x") != nil || a.Fit("c:1", 0, 9, "x") != nil {
		t.Errorf("found %s and %s for the connections 5 and 6, and limits that are too low", a.Of(5), a.Of(6))
	}
	if err := a.Fit("c:1", 3, 2, "its setting"); err == nil || !strings.Contains(err.Error(), "its setting") || !strings.Contains(err.Error(), "2 for the load and 2 beside it") {
		t.Errorf("found %v", err)
	}
	one := p
	one.Target.MemberIndex = new(1)
	if of := NewAddresses(one, 1); of.Of(5) != "b:1" || of.Of(6) != "b:1" || of.Fit("b:1", 6, 2, "x") == nil || len(of.Loaded()) != 3 {
		t.Errorf("one member alone: found %s and %s, and %v are asked", of.Of(5), of.Of(6), of.Loaded())
	}
	if _, skipped, err := a.Skip([]error{nil, down, nil}); err != nil || len(skipped) != 1 || a.Of(5) != "c:1" || a.Of(6) != "a:1" || a.Of(7) != "c:1" {
		t.Errorf("skips %v, %v, and loads %v", skipped, err, a.Loaded())
	}
}
