package etcd

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// etcd takes as many connections as it may open files, less 150. The member of the test has the limit of the test.
func TestPreflightRefusesMoreConnectionsThanAMemberAccepts(t *testing.T) {
	files, known := process.OpenFiles()
	if !known || files < 1000 || files > 100_000 {
		t.Skipf("the limit of open files is %d", files)
	}
	cluster, _ := oneMember(t)
	accepted := int32(files) - 150
	for name, tc := range map[string]struct {
		connections int32
		refused     bool
	}{"as many as it accepts": {accepted - connectionsOfPod, false}, "more": {accepted - connectionsOfPod + 1, true}} {
		t.Run(name, func(t *testing.T) {
			p := planFor(cluster.Endpoints, fetching(spec.Fetch{Layout: spec.LayoutFlat}, tc.connections))
			_, _, err := newDriver(t, p, 0).Preflight(withTimeout(t))
			if !tc.refused {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFailure(t, err, results.FailureUnsupported, "accepts "+text.Grouped(accepted)+" connections", text.Grouped(tc.connections)+" for each of 1 member")
		})
	}
}

// Each connection of a pod to a member needs a port. Several pods have more.
func TestPreflightRefusesMoreConnectionsThanAPodHasPorts(t *testing.T) {
	ports, known := process.LocalPorts()
	if !known || ports > 60_000 {
		t.Skipf("there are %d ports", ports)
	}
	cluster, _ := oneMember(t)
	for pods, refused := range map[int32]bool{1: true, 4: false} {
		p := planFor(cluster.Endpoints, fetching(spec.Fetch{Layout: spec.LayoutFlat}, int32(ports)-connectionsOfPod+1), func(p *plan.Plan) { p.Load.Pods = pods })
		_, _, err := newDriver(t, p, 0).Preflight(withTimeout(t))
		if got := err != nil && strings.Contains(err.Error(), text.Grouped(ports)+" ports"); got != refused {
			t.Errorf("%d pods: got %v, wanted a failure that names the ports: %v", pods, err, refused)
		}
	}
}
