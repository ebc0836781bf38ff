package remote

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TestReachable: only addresses that do not answer are skipped, only if the target says so, and never all of them.
func TestReachable(t *testing.T) {
	down := load.Errorf(results.FailureTargetUnreachable, "it refuses connections: %w", syscall.ECONNREFUSED)
	other := load.Errorf(results.FailureTargetUnreachable, "it does not speak gRPC")
	closed := load.Errorf(results.FailureTargetUnreachable, "it closes connections: %w", ErrClosed)
	refuses := load.Errorf(results.FailureTLSFailed, "its certificate has expired")
	tests := map[string]struct {
		what    spec.UnreachableMembers
		errs    []error
		reached []int
		skipped []string
		reports string
	}{
		"all answer":               {spec.UnreachableFail, []error{nil, nil}, []int{0, 1}, nil, ""},
		"one does not":             {spec.UnreachableFail, []error{nil, down}, nil, nil, "spec.target.unreachableMembers"},
		"one does not, by default": {"", []error{down, nil}, nil, nil, "spec.target.unreachableMembers"},
		"one is skipped":           {spec.UnreachableSkip, []error{down, nil}, []int{1}, []string{"a:1"}, ""},
		"one proxy has no member":  {spec.UnreachableSkip, []error{closed, nil}, []int{1}, []string{"a:1"}, ""},
		"none answers":             {spec.UnreachableSkip, []error{down, down}, nil, nil, "refuses connections"},
		"one has another error":    {spec.UnreachableSkip, []error{nil, refuses}, nil, nil, "certificate"},
		"another server":           {spec.UnreachableSkip, []error{nil, other}, nil, nil, "does not speak gRPC"},
		"down and another error":   {spec.UnreachableSkip, []error{nil, down, refuses}, nil, nil, "refuses connections"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			reached, skipped, err := Reachable(plan.Target{Endpoints: []string{"a:1", "b:1", "c:1"}[:len(tc.errs)], UnreachableMembers: tc.what}, tc.errs)
			if (err == nil) != (tc.reports == "") || err != nil && !strings.Contains(err.Error(), tc.reports) {
				t.Fatalf("got the error %v, wanted %q in it", err, tc.reports)
			}
			if err != nil {
				if _, explained := errors.AsType[*load.Error](err); !explained {
					t.Errorf("%v has no reason", err)
				}
				return
			}
			var addresses []string
			for address := range skipped {
				addresses = append(addresses, address)
			}
			if !slices.Equal(reached, tc.reached) || !slices.Equal(addresses, tc.skipped) {
				t.Errorf("loads %v and skips %v, wanted %v and %v", reached, addresses, tc.reached, tc.skipped)
			}
		})
	}
}
