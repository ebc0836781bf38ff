package etcd

import (
	"context"
	"slices"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/process"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// reservedFiles is how many of the files that a member may open are not for clients.
	reservedFiles = 150
	// fewConnections to a member are always accepted: by default, a process may open 1,024 files.
	fewConnections = 500
	// connectionsOfPod is how many connections a pod has to a member at most, beside those of its load.
	connectionsOfPod = 24
)

// checkConnections refuses more connections than a member accepts, or than a pod has ports for. etcd does not accept the others,
// and reports nothing. Client pod 0 reads the limits; the metrics are too large for a thousand pods.
func (d *Driver) checkConnections(ctx context.Context, t topology) error {
	eligible := t.eligible(d.plan.Target)
	connections := int(d.plan.Load.Connections) + d.plan.Carriers()
	each := (connections + len(eligible) - 1) / len(eligible)
	if d.index != 0 || each <= fewConnections {
		return nil
	}
	ofPod := (each + d.plan.Pods() - 1) / d.plan.Pods()
	if ports, known := process.LocalPorts(); known && ofPod+connectionsOfPod > ports {
		return load.Errorf(results.FailureUnsupported,
			"a client pod has %s ports for connections to one address (net.ipv4.ip_local_port_range). The load has %s for each client pod and member, and up to %d beside them. "+
				"Raise load.pods, lower load.connections, load more members, or widen the range",
			text.Grouped(ports), text.Grouped(ofPod), connectionsOfPod)
	}
	for _, m := range t.members {
		if !slices.Contains(eligible, m.endpoint) {
			continue
		}
		page, _, problem := d.read(ctx, m, t.members)
		files, known := page.Sum(metricMaxFiles)
		if problem != "" || !known {
			continue
		}
		if most, beside := int(files)-reservedFiles, connectionsOfPod*d.plan.Pods(); each+beside > most {
			return load.Errorf(results.FailureUnsupported,
				"%s accepts %s connections: the %s files that it may open, less %d. The load has %s for each of %s, and up to %s beside them. "+
					"Lower load.connections, load more members, or raise the limit of the member's process (ulimit -n)",
				m.endpoint, text.Grouped(most), text.Grouped(int(files)), reservedFiles, text.Grouped(each), text.Plural(len(eligible), "member"), text.Grouped(beside))
		}
	}
	return nil
}
